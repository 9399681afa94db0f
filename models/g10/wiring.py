"""How the artifact calls the children of a container (``ast.cc``, ``UserBlock::Analysis``).

It calls every printed module once, in the order printed, and joins the ends. So a block of ResNet has its one ``relu`` where it is printed
and none behind the sum. Blocks of Inception pool by the maximum where torchvision takes the mean.
"""

from __future__ import annotations

from g10c.models.modules.wiring import CHAINS, SQUEEZE_EXCITATION, Wirings, apply, call, inception

ARTIFACT = Wirings(
    CHAINS | {"BasicConv2d"},
    {
        "BasicBlock": (
            call("main", "x", "conv1 bn1 relu conv2 bn2"),
            call("shortcut", "x", "downsample?"),
            apply("add", "Add", "main shortcut"),
        ),
        "Bottleneck": (
            call("main", "x", "conv1 bn1 conv2 bn2 conv3 bn3 relu"),
            call("shortcut", "x", "downsample?"),
            apply("add", "Add", "main shortcut"),
        ),
        **inception("MaxPool2d"),
        **SQUEEZE_EXCITATION,
    },
)

FAMILIES = frozenset({"AlexNet", "Inception3", "ResNet", "SENet"})
"""Classes of the artifact's own networks."""
