"""Meshes and places."""

import pytest

from g10c.ir.mesh import Mesh, MeshError
from g10c.ir.program import Program


def test_ranks() -> None:
    mesh = Mesh.parse("dp=2, tp=3")
    assert (mesh.size, str(mesh)) == (6, "dp=2,tp=3")
    assert mesh.ranks() == (0, 1, 2, 3, 4, 5)
    assert mesh.ranks("dp:1") == (3, 4, 5)
    assert mesh.ranks("tp:2") == (2, 5)
    assert mesh.ranks("tp:0,dp:1") == (3,)
    assert mesh.place("tp:0, dp:1") == {"tp": 0, "dp": 1}


def test_of_a_program() -> None:
    assert Mesh.of(Program("x", {}, ())).ranks() == (0,)
    assert Mesh.of(Program("x", {}, (), {"mesh": "pp=4"})).size == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected an axis and its number of ranks, found ''"),
        ("dp", "expected an axis and its number of ranks, found 'dp'"),
        ("dp=2,,tp=2", "expected an axis and its number of ranks, found ''"),
        ("dp=-1", "expected an axis and its number of ranks, found 'dp=-1'"),
        ("dp=0", "axis 'dp' has no ranks"),
        ("dp=2,dp=2", "axis 'dp' is given twice"),
        ("dp=999999999", "the mesh has 999999999 ranks, more than 65536"),
    ],
)
def test_wrong_meshes(text: str, message: str) -> None:
    with pytest.raises(MeshError) as caught:
        Mesh.parse(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("place", "message", "hint"),
    [
        ("", "expected ranks as axis:number, found ''", 'such as "pp:0" or "pp:0,dp:1"'),
        ("pp=0", "expected ranks as axis:number, found 'pp=0'", 'such as "pp:0" or "pp:0,dp:1"'),
        ("pq:0", "the mesh has no axis 'pq'", "known axes: dp, pp"),
        ("pp:0,pp:1", "axis 'pp' is given twice", ""),
        ("pp:2", "axis 'pp' has 2 ranks, there is no pp:2", "numbers start at 0"),
    ],
)
def test_wrong_places(place: str, message: str, hint: str) -> None:
    with pytest.raises(MeshError) as caught:
        Mesh.parse("dp=2,pp=2").ranks(place)
    assert (str(caught.value), caught.value.hint) == (message, hint)


def test_place_without_a_mesh() -> None:
    with pytest.raises(MeshError, match="axis 'dp': the program has no mesh"):
        Mesh({}).ranks("dp:0")
