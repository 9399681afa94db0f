"""Printed PyTorch modules: their text, shapes, how containers call their children, and the steps that they become."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from g10c.ir.errors import InputError, UsageError
from g10c.ir.parser import parse_program
from g10c.ir.printer import print_program
from g10c.ir.program import Level, Op, Program, Role
from g10c.ir.source import Source, Span
from g10c.ir.verifier import verify
from g10c.models.g10.importer import STYLES, G10Importer
from g10c.models.modules.network import Layer, build_network
from g10c.models.modules.tree import parse_module
from g10c.models.modules.wiring import PYTORCH, Call

BATCH = 2
PARAMETERS = {
    "AlexNet": 61_100_840,
    "Inceptionv3": 23_834_568,
    "Inceptionv3-O": 23_834_568,
    "ResNet18": 11_689_512,
    "ResNet34": 21_797_672,
    "ResNet50": 25_557_032,
    "ResNet152": 60_192_808,
    "WResNet50_2": 68_883_240,
    "WResNet101_2": 126_886_696,
}
"""Parameters that torchvision documents, of Inception without the auxiliary classifier."""
UNGROUPED = {"ResNeXt101_32x8d": 419_627_304, "SENet16": 37_433_128, "SENet154": 348_152_232}
"""The artifact's files do not say the groups of these networks' convolutions."""
ALEXNET_CONVOLUTION_BIASES = 64 + 192 + 384 + 256 + 256


def layers_of(text: str, batch: int = BATCH, size: int | None = None, style: str = "pytorch") -> tuple[Layer, ...]:
    return build_network(parse_module(Source("net.txt", text)), STYLES[style][0], batch, size)


def shape_of(layer: str, *shape: int) -> tuple[int, ...]:
    """The shape behind a layer that is given images of a shape."""
    convolution = f"Conv2d({shape[0]}, {shape[0]}, kernel_size=1)"
    return layers_of(f"Sequential((0): {convolution} (1): {layer})", size=shape[1])[-1].shape[1:]


def imported(tmp_path: Path, text: str, **options: object) -> Program:
    path = tmp_path / "net.txt"
    path.write_text(text, encoding="utf-8")
    return G10Importer(**{"net": path, "batch": BATCH, **options}).load()  # type: ignore[arg-type] # options by name


def failure(text: str, **options: int) -> str:
    with pytest.raises(InputError) as caught:
        layers_of(text, **options)  # type: ignore[arg-type] # numbers only
    return caught.value.render()


def flow(layers: tuple[Layer, ...]) -> list[tuple[str, str, list[str]]]:
    """Of each layer its label, class, and the labels of the layers whose results it takes."""
    return [(layer.label, layer.kind, [layers[number].label for number in layer.operands]) for layer in layers]


def test_a_tree_has_classes_arguments_and_places():
    text = "Net(\n  (a): Conv2d(3, 8, kernel_size=(3, 1), padding=same, bias=False)\n  (b-c): Sequential(\n  )\n)\n"
    module = parse_module(Source("net.txt", text))
    assert (module.kind, list(module.children)) == ("Net", ["a", "b-c"])
    child = module.children["a"]
    assert (child.kind, str(child.span)) == ("Conv2d", "net.txt:2:8")
    assert [argument.value for argument in child.positional] == [3, 8]
    assert {key: argument.value for key, argument in child.keywords.items()} == {"kernel_size": (3, 1), "padding": "same", "bias": False}
    assert child.keywords["padding"].span.text == "same"


@pytest.mark.parametrize(
    ("written", "value"),
    [("1e-05", 1e-5), ("-1", -1), ("(768,)", (768,)), ("()", ()), ("[1, None]", (1, None)), ("'none'", "none"), ("True", True)],
)
def test_values(written: str, value: object):
    module = parse_module(Source("net.txt", f"Layer({written}, key={written})"))
    assert (module.positional[0].value, module.keywords["key"].value) == (value, value)


def test_repeated_children_are_called_one_after_the_other():
    layers = layers_of("Sequential((0): Conv2d(3, 3, kernel_size=1) (1-3): 3 x Sequential((0): ReLU()))")
    assert flow(layers)[2:] == [("1.0", "ReLU", ["0"]), ("2.0", "ReLU", ["1.0"]), ("3.0", "ReLU", ["2.0"])]


@pytest.mark.parametrize(
    ("layer", "given", "expected"),
    [
        ("Conv2d(3, 64, kernel_size=(7, 7), stride=(2, 2), padding=(3, 3))", (3, 224), (64, 112, 112)),
        ("Conv2d(3, 8, kernel_size=(1, 7), padding=(0, 3))", (3, 17), (8, 17, 17)),
        ("Conv2d(3, 8, kernel_size=3, dilation=2)", (3, 9), (8, 5, 5)),
        ("Conv2d(3, 8, kernel_size=4, padding=same)", (3, 9), (8, 9, 9)),
        ("Conv2d(3, 8, kernel_size=4, padding=valid)", (3, 9), (8, 6, 6)),
        ("MaxPool2d(kernel_size=3, stride=2, padding=1, dilation=1, ceil_mode=False)", (3, 112), (3, 56, 56)),
        ("MaxPool2d(kernel_size=3, stride=2, padding=0, dilation=1, ceil_mode=True)", (3, 112), (3, 56, 56)),
        ("MaxPool2d(kernel_size=2, stride=2, padding=1, ceil_mode=True)", (3, 5), (3, 3, 3)),  # 4 windows would begin in the padding
        ("MaxPool2d(kernel_size=2)", (3, 7), (3, 3, 3)),
        ("AvgPool2d(kernel_size=3, stride=1, padding=1)", (3, 17), (3, 17, 17)),
        ("AdaptiveAvgPool2d(output_size=(1, 1))", (3, 7), (3, 1, 1)),
        ("AdaptiveAvgPool2d(output_size=(None, 4))", (3, 7), (3, 7, 4)),
        ("AdaptiveAvgPool2d(output_size=6)", (3, 7), (3, 6, 6)),
        ("Linear(in_features=147, out_features=10, bias=True)", (3, 7), (10,)),
        ("Linear(in_features=7, out_features=10, bias=True)", (3, 7), (3, 7, 10)),
        ("GELU(approximate='none')", (3, 7), (3, 7, 7)),
    ],
)
def test_shapes_are_those_of_pytorch(layer: str, given: tuple[int, int], expected: tuple[int, ...]):
    assert shape_of(layer, *given) == expected


def test_flatten_and_identity_are_views():
    views = "(1): Identity() (2): Flatten(start_dim=1, end_dim=-1)"
    layers = layers_of(f"Sequential((0): Conv2d(3, 4, kernel_size=1) {views} (3): Dropout())", size=5)
    assert flow(layers)[2:] == [("3", "Dropout", ["0"])]
    assert layers[-1].shape == (BATCH, 100)


def test_groups_divide_the_weights():
    (convolution,) = layers_of("Conv2d(32, 64, kernel_size=(3, 5), groups=8, bias=False)")[1:]
    assert convolution.weights == {"w": (64, 4, 3, 5)}


def test_the_input_has_the_size_of_the_family_or_the_one_given():
    convolution = "Conv2d(3, 4, kernel_size=1)"
    assert layers_of(convolution)[0].shape == (BATCH, 3, 224, 224)
    assert layers_of(f"Inception3((a): {convolution})")[0].shape == (BATCH, 3, 299, 299)
    assert layers_of(f"Inception3((a): {convolution})", size=32)[0].shape == (BATCH, 3, 32, 32)
    assert layers_of("Sequential((0): Linear(in_features=7, out_features=2, bias=False))")[0].shape == (BATCH, 7)


BASIC_BLOCK = """ResNet(
  (conv1): Conv2d(3, 4, kernel_size=(1, 1), bias=False)
  (layer1): Sequential(
    (0): BasicBlock(
      (conv1): Conv2d(4, 4, kernel_size=(1, 1), bias=False)
      (bn1): BatchNorm2d(4)
      (relu): ReLU(inplace=True)
      (conv2): Conv2d(4, 4, kernel_size=(1, 1), bias=False)
      (bn2): BatchNorm2d(4)
    )
  )
  (fc): Linear(in_features=36, out_features=2, bias=True)
)
"""


def test_a_block_as_the_artifact_calls_it():
    assert flow(layers_of(BASIC_BLOCK, size=3, style="artifact"))[2:] == [
        ("layer1.0.conv1", "Conv2d", ["conv1"]),
        ("layer1.0.bn1", "BatchNorm2d", ["layer1.0.conv1"]),
        ("layer1.0.relu", "ReLU", ["layer1.0.bn1"]),
        ("layer1.0.conv2", "Conv2d", ["layer1.0.relu"]),
        ("layer1.0.bn2", "BatchNorm2d", ["layer1.0.conv2"]),
        ("layer1.0.add", "Add", ["layer1.0.bn2", "conv1"]),
        ("fc", "Linear", ["layer1.0.add"]),
    ]


def test_a_block_as_pytorch_runs_it():
    assert flow(layers_of(BASIC_BLOCK, size=3))[6:] == [
        ("layer1.0.bn2", "BatchNorm2d", ["layer1.0.conv2"]),
        ("layer1.0.add", "Add", ["layer1.0.bn2", "conv1"]),
        ("layer1.0.relu.2", "ReLU", ["layer1.0.add"]),
        ("fc", "Linear", ["layer1.0.relu.2"]),
    ]


def ops_of(program: Program, layer: str) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    return [(op.name, op.reads, op.writes) for op in program.ops if op.attrs["layer"] == layer]


def test_both_operands_of_a_sum_have_the_gradient_of_the_sum(tmp_path: Path):
    program = imported(tmp_path, BASIC_BLOCK, input_size=3, style="artifact")
    assert ops_of(program, "layer1.0.add") == [("add.forward", ("layer1.0.bn2", "conv1"), ("layer1.0.add",))]
    assert ops_of(program, "layer1.0.bn2")[1][1][0] == "layer1.0.add.grad"
    assert ops_of(program, "conv1")[1] == ("accumulate", ("conv1.grad", "layer1.0.add.grad"), ("conv1.grad",))


def test_layers_in_place_share_a_tensor_and_have_gradients_of_their_own(tmp_path: Path):
    program = imported(tmp_path, BASIC_BLOCK, input_size=3, style="artifact")
    assert ops_of(program, "layer1.0.relu") == [
        ("relu.forward", ("layer1.0.bn1",), ("layer1.0.bn1",)),
        ("relu.backward", ("layer1.0.bn1", "layer1.0.relu.grad"), ("layer1.0.bn1.grad",)),
    ]
    assert ops_of(program, "layer1.0.conv2")[0][1] == ("layer1.0.bn1", "layer1.0.conv2.weight")


SQUEEZE = """SENet((stage): Sequential1((unit1): SENetUnit(
  (body): SENetBottleneck((conv1): ConvBlock((conv): Conv2d(4, 4, kernel_size=1, bias=False)))
  (se): SEBlock(
    (pool): AdaptiveAvgPool2d(output_size=(1, 1))
    (conv1): Conv2d(4, 1, kernel_size=1, bias=False)
    (activ): ReLU(inplace=True)
    (conv2): Conv2d(1, 4, kernel_size=1, bias=False)
    (sigmoid): Sigmoid()
  )
  (activ): ReLU(inplace=True)
)))"""


def test_factors_scale_images(tmp_path: Path):
    scale = "stage.unit1.se.scale"
    body, factors = "stage.unit1.body.conv1.conv", "stage.unit1.se.sigmoid"
    real = imported(tmp_path, SQUEEZE, input_size=3, style="pytorch")
    assert ops_of(real, scale) == [
        ("scale.forward", (body, factors), (scale,)),
        ("scale.backward", ("stage.unit1.add.grad", body, factors), (f"{body}.grad.2", f"{factors}.grad")),
    ]
    odd = imported(tmp_path, SQUEEZE, input_size=3)
    assert odd.attrs["style"] == "artifact"
    assert ops_of(odd, scale)[0] == ("scale.forward", (factors,), (scale,))
    assert ops_of(odd, scale)[1][2] == (f"{factors}.grad",)
    assert odd.tensors[scale].shape == real.tensors[scale].shape == (BATCH, 4, 3, 3)


@pytest.mark.parametrize("name", [*PARAMETERS, *UNGROUPED])
@pytest.mark.parametrize("style", ["artifact", "pytorch"])
def test_networks_have_the_known_number_of_parameters(name: str, style: str, g10_data: Path):
    program = G10Importer(g10_data / "nets" / f"{name}.txt", BATCH, style=style).load()  # type: ignore[arg-type] # one of the words
    weights = [tensor for tensor in program.tensors.values() if tensor.role is Role.WEIGHT and "running_" not in tensor.name]
    known = PARAMETERS.get(name) or UNGROUPED[name]
    left_out = ALEXNET_CONVOLUTION_BIASES if name == "AlexNet" and style == "artifact" else 0
    assert sum(math.prod(tensor.shape) for tensor in weights) == known - left_out
    side = 299 if "Inception" in name else 224
    assert program.tensors["input"].shape == (BATCH, 3, side, side)
    trained = {op.writes[0] for op in program.ops if op.attrs["phase"] == "update"}
    assert trained == {tensor.name for tensor in weights}


@pytest.mark.parametrize("style", ["artifact", "pytorch"])
@pytest.mark.parametrize("name", ["AlexNet", "Inceptionv3", "ResNet50", "SENet16"])
def test_steps_are_legal_round_trip_and_cite_their_lines(name: str, style: str, g10_data: Path):
    program = G10Importer(g10_data / "nets" / f"{name}.txt", BATCH, style=style).load()  # type: ignore[arg-type] # one of the words
    assert verify(program, Level.TRACED) == []
    text = print_program(program)
    assert print_program(parse_program(text)) == text
    written = {tensor for op in program.ops for tensor in op.writes}
    unwritten = {name for name, tensor in program.tensors.items() if not tensor.persistent} - written
    assert all(name.endswith(".mask") for name in unwritten)
    assert unwritten == set() or style == "artifact"
    kinds = {"conv2d": "Conv2d", "batch_norm": "BatchNorm2d", "linear": "Linear", "dropout": "Dropout"}
    for op in program.ops:
        check_place(op, kinds)


def check_place(op: Op, kinds: dict[str, str]) -> None:
    assert isinstance(op.location, Span)
    kind = kinds.get(op.name.split(".")[0])
    if kind:
        assert op.location.text == kind


def test_pytorch_steps_have_a_gradient_for_all_that_is_trained_and_none_for_the_input(g10_data: Path):
    program = G10Importer(g10_data / "nets" / "ResNet50.txt", BATCH, style="pytorch").load()
    assert "input.grad" not in program.tensors
    weights = {tensor.name for tensor in program.tensors.values() if tensor.role is Role.WEIGHT and "running_" not in tensor.name}
    assert {f"{name}.grad" for name in weights} <= set(program.tensors)
    relus = [op for op in program.ops if op.name == "relu.forward"]
    assert len(relus) == 1 + 16 * 3


def test_a_class_of_the_artifact_is_read_as_it_does_and_others_as_pytorch_runs_them(tmp_path: Path):
    convolution = "(0): Conv2d(3, 4, kernel_size=1)"
    assert imported(tmp_path, f"AlexNet({convolution})").attrs["style"] == "artifact"
    assert imported(tmp_path, f"VGG({convolution})").attrs["style"] == "pytorch"


def test_times_belong_to_kernels_in_order(tmp_path: Path):
    net, times = tmp_path / "net.txt", tmp_path / "times.txt"
    net.write_text("Linear(in_features=4, out_features=2, bias=True)")
    times.write_text("".join(f"{number} 0.{number + 1} ms\n" for number in range(7)))
    program = G10Importer(net, BATCH, times).load()
    assert [(op.name, op.time_ns) for op in program.ops] == [
        ("load", 100_000),
        ("linear.forward", 200_000),
        ("loss", 300_000),
        ("linear.backward_bias", 400_000),
        ("apply_grad", 500_000),
        ("linear.backward_weight", 600_000),
        ("apply_grad", 700_000),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sequential(\n  (0): ReLU(\n", "error: expected a child such as '(conv1): Conv2d(...)' or a value or ')', found the end"),
        ("Sequential(\n  (0): 3\n)", "net.txt:2:8: error: expected the class of a module, such as Conv2d, found '3'"),
        ("Sequential(\n  (0) ReLU()\n)", "net.txt:2:7: error: expected ':' and the class of a module, found 'ReLU'"),
        ("ReLU() ReLU()", "net.txt:1:8: error: expected the end of the file, found 'ReLU'"),
        ("Sequential(\n  (0-2): 2 x ReLU()\n)", "net.txt:2:3: error: (0-2) names 3 children, not 2"),
        ("Sequential(\n  (0): ReLU()\n  (0): ReLU()\n)", "net.txt:3:3: error: (0) is there twice"),
        ("ReLU(inplace=True, inplace=False)", "net.txt:1:20: error: inplace is given twice"),
        ("Sequential(" + "(0): Sequential(" * 70 + ")" * 71, "error: modules are nested more than 64 deep"),
        ("LSTM(3, 4)", "net.txt:1:1: error: LSTM is not a layer that is known"),
        ("Conv2D(3, 4, kernel_size=1)", "help: did you mean 'Conv2d'"),
        ("Net(\n  (0): ReLU()\n)", "net.txt:1:1: error: it is not known how Net calls its children"),
        ("Conv2d(3, 4, kernal_size=1)", "net.txt:1:14: error: Conv2d has no argument 'kernal_size'"),
        ("Conv2d(3, 4, kernel_size=0)", "net.txt:1:26: error: kernel_size of Conv2d: expected a whole number from 1 to"),
        ("Conv2d(3, 4, kernel_size=(1, 2, 3))", "kernel_size of Conv2d: expected a number or two"),
        ("Conv2d(3, 4, 1, bias=1)", "net.txt:1:22: error: bias of Conv2d: expected True or False"),
        ("Conv2d(3, 4)", "net.txt:1:1: error: Conv2d needs kernel_size"),
        ("Conv2d(3, 4, 1, kernel_size=1)", "net.txt:1:29: error: kernel_size of Conv2d is given twice"),
        ("ReLU(True, False)", "net.txt:1:12: error: ReLU takes 1 arguments at most"),
        ("Conv2d(3, 4, 1, groups=2)", "net.txt:1:1: error: Conv2d conv2d: its channels cannot be divided into 2 groups"),
        ("Conv2d(3, 4, 300)", "Conv2d conv2d: its window of 300 is larger than the input of 224 with a padding of 0"),
        ("Conv2d(3, 4, 3, 2, same)", "Conv2d conv2d: padding=same needs a stride of 1"),
        (
            "Sequential(\n  (0): Conv2d(3, 4, 1)\n  (1): Conv2d(3, 4, 1)\n)",
            "net.txt:3:8: error: Conv2d 1: it takes 3 channels, and is given 4\n    3 |   (1): Conv2d(3, 4, 1)\n      |        ^~~~~~\n"
            "  help: 0 (net.txt:2:8) gives [2, 4, 224, 224]",
        ),
        ("Sequential(\n  (0): Linear(4, 4)\n  (1): MaxPool2d(2)\n)", "it takes images (batch, channels, height, width), and is"),
        ("Sequential(\n  (0): Linear(4, 4)\n  (1): Linear(5, 4)\n)", "net.txt:3:8: error: Linear 1: it takes 5 features, and is given 4"),
        ("Sequential(\n  (0): ReLU()\n)", "net.txt:1:1: error: no layer says what the input is like"),
        (BASIC_BLOCK.replace("(bn2)", "(se)"), "net.txt:9:13: error: BasicBlock has no child (se)"),
        (BASIC_BLOCK.replace("(bn2)", "(se)"), "net.txt:4:10: error: BasicBlock is without its child (bn2)"),
        (BASIC_BLOCK.replace("4, kernel_size=(1, 1)", "4, kernel_size=(2, 2)"), "its operands differ in shape"),
        ("Sequential(3)", "net.txt:1:12: error: Sequential takes children, not arguments"),
        ("ReLU((0): ReLU())", "net.txt:1:11: error: ReLU has no children"),
        ("Sequential((a): Conv2d(3, 3, 1) (1-999): 999 x Sequential((0-999): 1000 x Identity()))", "calls more than 100,000"),
    ],
)
def test_mistakes(text: str, expected: str):
    assert expected in failure(text)


def test_all_that_is_not_known_is_named_together():
    text = failure("Sequential(\n  (0): Conv2d(3, 8)\n  (1): LSTM(3, 4)\n  (2): ReLU(inplace=3)\n)")
    assert [line.split(": error:")[0] for line in text.splitlines() if "error:" in line] == ["net.txt:2:8", "net.txt:3:8", "net.txt:4:21"]


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("ReLU()", {"weights_below": 3}, "--weights-below means nothing for"),
        ("6\nRelu", {"input_size": 3, "style": "pytorch"}, "--input-size means nothing for"),
        ("6\nRelu", {"style": "pytorch"}, "--style means nothing for"),
        ("ReLU()", {"input_size": 0}, "--input-size is 0"),
    ],
)
def test_options_of_the_other_kind_of_network(text: str, options: dict[str, object], expected: str, tmp_path: Path):
    with pytest.raises(UsageError, match=expected):
        imported(tmp_path, text, **options)


def test_wirings_name_what_is_there():
    """Every step takes results of earlier steps, and the layers that it applies are known."""
    for wirings, rules in (*STYLES.values(), (PYTORCH, {})):
        for kind, steps in wirings.wirings.items():
            known = {"x"}
            for step in steps:
                assert {step.source} <= known if isinstance(step, Call) else set(step.operands) <= known, kind
                assert isinstance(step, Call) or not rules or step.layer in rules
                known.add(step.result)
