"""The page of `--report`: the graph facts it is drawn from, what it says, and how it looks in a real browser."""

from __future__ import annotations

import html
import json
import random
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from commands import autofix
from farms import CHROMIUM, program
from hypothesis import example, given
from hypothesis import strategies as st

from autofix import cli, pipeline, render
from autofix.core.model import Answer, Outcome, Question, Report, Target
from autofix.experiments import pictures
from autofix.experiments.client import Probe, run
from autofix.experiments.requests import plain
from autofix.probe import wire
from autofix.render import report as page
from autofix.render.report import collapse, drawing, layout
from autofix.search import registry

FIRST = Path(__file__).resolve().parent.parent / "fixtures" / "first"
GAN = FIRST / "gan_two_step" / "broken.py"
DEEP = """\
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(4, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4)
        self.again, self.last = nn.Conv2d(4, 4, 1), nn.BatchNorm2d(4)

    def forward(self, x):
        y = torch.relu(self.norm(self.conv(x)))
        return torch.relu(x + self.last(self.again(y)))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = nn.ModuleList(nn.Sequential(*(Block() for _ in range(4))) for _ in range(4))
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        for stage in self.stages:
            x = stage(x)
        gate = torch.sigmoid(x)
        gate *= 0.5
        return self.head((x * gate).mean((2, 3)))

torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(2, 4, 6, 6), torch.tensor([0, 2])
for _ in range(2):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
"""
EVIL = "</title></svg><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
HOSTILE = f"""\
import torch
evil = {EVIL!r}

def forward(ctx, x):
    ctx.save_for_backward(x)
    return x * 2

def backward(ctx, gradient):
    (x,) = ctx.saved_tensors
    return gradient * 2

methods = {{"forward": staticmethod(forward), "backward": staticmethod(backward)}}
Double = type(evil, (torch.autograd.Function,), methods)
net = torch.nn.Module()
net.register_parameter(evil.replace(".", ""), torch.nn.Parameter(torch.ones(3)))
(weight,) = net.parameters()
optimizer = torch.optim.SGD([weight], lr=0.1)
made = Double.apply(weight * 2)
first, second = made.sum(), (made * made).sum()  # </text><script>document.title='owned'</script>
print(evil)
first.backward()
second.backward()
optimizer.step()
"""


class Made(NamedTuple):
    """A page with what it was made from."""

    report: Report
    pictures: pictures.Pictures
    page: str


def make(probe: Probe, script: Path, *, edit: Path | None = None) -> Made:
    target = Target(script, root=script.parent, cwd=script.parent, python=Path(sys.executable))
    if edit is not None:
        report = pipeline.verify(target, {script: edit.read_bytes()}, probe=probe, progress=str)
    else:
        report = pipeline.fix(target, registry.rules(), probe=probe, progress=str)
    taken = pictures.taken(probe, report, str)
    return Made(report, taken, page.as_html(report, render.Snapshot(report), taken))


@pytest.fixture(scope="module")
def gan(probe: Probe) -> Made:
    return make(probe, GAN)


@pytest.fixture(scope="module")
def anew(probe: Probe) -> Made:
    """The page of an edit that computes the discriminator's output again."""
    return make(probe, GAN, edit=GAN.parent / "fixed" / "2_keep_graph_and_forward_again.py")


@pytest.fixture(scope="module")
def deep(probe: Probe, tmp_path_factory: pytest.TempPathFactory) -> Made:
    script = tmp_path_factory.mktemp("deep") / "train.py"
    script.write_text(DEEP, "utf-8")
    return make(probe, script)


@pytest.fixture(scope="module")
def hostile(probe: Probe, tmp_path_factory: pytest.TempPathFactory) -> Made:
    script = tmp_path_factory.mktemp("hostile") / "<img src=x onerror=alert(1)>.py"
    script.write_text(HOSTILE, "utf-8")
    return make(probe, script)


def line(graph: wire.Graph, node: wire.Node) -> int:
    return graph.sites[node.site][0].line if node.site >= 0 else 0


def boxes(text: str, section: str) -> list[tuple[str, str, str, str]]:
    """The boxes of a drawing: its kind, and its three lines."""
    found = re.search(rf'<section id="{section}"[^>]*>.*?</section>', text, re.DOTALL)
    assert found is not None
    pattern = r'<g class="box (\w+)"><title>.*?</title>.*?' + r"\n".join([r"<text[^>]*>(.*?)</text>"] * 3)
    return [tuple(map(html.unescape, one)) for one in re.findall(pattern, found[0], re.DOTALL)]  # type: ignore[misc]


# What the probe sends -------------------------------------------------------------------------------------------------


def trace(probe: Probe, script: Path, *, graph: bool = True) -> wire.Trace:
    target = Target(script, root=script.parent, cwd=script.parent)
    return run(probe, replace(plain(target, "trace"), graph=graph, watch_calls=True))


@pytest.mark.torch
def test_the_graph_tells_which_backward_freed_the_node_that_fails(gan: Made) -> None:
    graph = gan.pictures.before
    assert graph is not None
    (failed,) = [node for node in graph.nodes if node.failed]
    assert (failed.name, failed.module, line(graph, failed)) == ("AddmmBackward0", "D", 16)
    freeing, failing = graph.nodes[failed.freed_by], graph.nodes[max(failed.calls)]
    assert [(node.kind, line(graph, node)) for node in (freeing, failing)] == [("loss", 20), ("loss", 25)]
    leaves = {node.name for node in graph.nodes if node.kind == "leaf"}
    assert leaves == {"G.weight", "G.bias", "D.weight", "D.bias", "t"}


@pytest.mark.torch
def test_where_a_part_is_computed_anew_each_backward_has_its_own(anew: Made) -> None:
    graph = anew.pictures.after
    assert graph is not None
    assert not any(node.failed for node in graph.nodes)
    through = [node.calls for node in graph.nodes if node.module == "D" and node.name == "AddmmBackward0"]
    assert sorted(len(calls) for calls in through) == [1, 1]
    assert through[0] != through[1]


@pytest.mark.torch
def test_a_write_stands_with_the_versions_before_and_after_it(probe: Probe) -> None:
    graph = trace(probe, FIRST / "sigmoid_inplace_module" / "broken" / "main.py").graph
    assert graph is not None
    (write,) = [number for number, node in enumerate(graph.nodes) if node.kind == "write"]
    (failed,) = [number for number, node in enumerate(graph.nodes) if node.failed]
    assert (graph.nodes[write].version, graph.nodes[write].now) == (0, 1)
    assert graph.nodes[failed].name == "SigmoidBackward0"
    assert (write, failed) in graph.edges


@pytest.mark.torch
def test_a_call_that_torch_refuses_stands_with_the_leaf_it_was_given(probe: Probe) -> None:
    graph = trace(probe, FIRST / "leaf_plus_equals" / "broken.py").graph
    assert graph is not None
    assert [(node.kind, node.name) for node in graph.nodes] == [("refused", "torch.Tensor.add_"), ("leaf", "a")]


@pytest.mark.torch
def test_no_graph_is_sent_unless_asked_for(probe: Probe) -> None:
    assert trace(probe, GAN, graph=False).graph is None


# What is drawn --------------------------------------------------------------------------------------------------------


@pytest.mark.torch
def test_the_drawing_says_where_it_fails_and_what_freed_it(gan: Made, anew: Made) -> None:
    drawn = boxes(gan.page, "before")
    assert ("failed", "d", "16  d = D(g)", "fails here: freed by ①") in drawn
    assert ("loss", "① backward()", "20  lossD.backward()", "frees what a later call needs") in drawn
    assert ("loss", "② backward()", "25  lossG.backward()", "this call fails") in drawn
    after = " ".join(code for _, _, code, _ in boxes(anew.page, "after"))
    assert re.search(r"16  d = D\(g\)|lines 1[56]–1[68]", after), after
    assert re.search(r"23  d = D\(g\)|lines 2[23]–24", after), after


@pytest.mark.torch
def test_gradients_stand_per_parameter_and_an_edit_that_changes_them_is_seen(probe: Probe, gan: Made) -> None:
    plots = [html.unescape(one) for one in re.findall(r"<figcaption><b>(.*?)</b>", gan.page)]
    assert sorted(plots) == ["D.bias", "D.weight", "G.bias", "G.weight"]
    wrong = make(probe, GAN, edit=GAN.parent / "wrong" / "detach_d.py").page
    (weight,) = re.findall(r"<figcaption><b>G\.weight</b>(.*?)</figcaption>", wrong, re.DOTALL)
    assert 'class="apart"' in weight
    assert re.search(r"step 1: 5\.\d+, with the edit 3\.162", weight)


@pytest.mark.torch
def test_a_deep_network_is_a_few_boxes_by_module_and_fine_where_it_fails(deep: Made) -> None:
    graph = deep.pictures.before
    assert graph is not None
    assert len(graph.nodes) > 200
    drawn = boxes(deep.page, "before")
    assert len(drawn) <= collapse.MOST
    titles = [title for _, title, _, _ in drawn]
    assert [kind for kind, *_ in drawn].count("failed") == 1
    assert "mul_ in place" in titles
    assert any(title.startswith("net.stages") for title in titles)
    assert f"{len(graph.nodes)} nodes in {len(drawn)} boxes" in deep.page


def graph_of(seed: int) -> wire.Graph:
    """A graph of some shape, made in some modules, with one node that fails."""
    chance = random.Random(seed)  # noqa: S311  no secret
    count = chance.randint(2, 160)
    frames = [wire.Frame("/x.py", number, 0, number, 1, "f") for number in range(1, 6)]
    paths = ["", "a", "a.b", "a.b.0", "a.b.1", "c"]
    nodes = [
        wire.Node("op", f"op{n}", chance.randint(-1, 4), chance.choice(paths), calls=(count,), failed=n == count // 2)
        for n in range(count)
    ]
    pairs = [(chance.randint(max(0, n - 12), n - 1), n) for n in range(1, count) for _ in range(chance.randint(1, 2))]
    edges = (*dict.fromkeys(pairs), (count - 1, count))
    return wire.Graph((*nodes, wire.Node("loss", "backward")), edges, tuple((one,) for one in frames))


@given(st.integers(0, 1 << 20))
@example(341)  # two parts, and an edge that bends in the second
def test_every_graph_becomes_few_boxes_with_the_failing_node_alone(seed: int) -> None:
    graph = graph_of(seed)
    drawn = collapse.collapse(graph)
    assert len(drawn.boxes) <= collapse.MOST
    members = [number for box in drawn.boxes for number in box.members]
    assert len(members) == len(set(members))
    assert len(members) + drawn.left_out == len(graph.nodes)
    failed = next(number for number, node in enumerate(graph.nodes) if node.failed)
    assert any(box.members == (failed,) for box in drawn.boxes)
    placed = layout.lay_out(len(drawn.boxes), drawn.edges)
    assert set(placed.paths) == set(drawn.edges)
    centres = list(placed.centres.values())
    for at, (x, y) in enumerate(centres):
        assert all(abs(x - a) >= layout.WIDTH or abs(y - b) >= layout.HEIGHT for a, b in centres[:at])


@pytest.mark.torch
def test_without_a_fix_the_page_says_so_and_what_was_tried(probe: Probe, gan: Made) -> None:
    made = make(probe, FIRST.parent / "no_graph" / "comparison_as_loss" / "broken.py")
    assert (made.report.outcome, made.report.fixes) == (Outcome.UNFIXED, ())
    assert made.report.rejected or made.report.notes
    shown = html.unescape(made.page)
    assert "<h2>No fix was found</h2>" in shown
    assert "The fix</h2>" not in shown
    assert "Why it works" not in shown
    tried = shown[shown.index('<section id="unfixed">') :]
    assert all("+".join(fix.candidate.rules) in tried for fix in made.report.rejected)
    assert all(note.reason in tried for note in made.report.notes)
    assert "No fix was found" not in gan.page


@pytest.mark.torch
def test_an_edit_that_still_fails_is_shown_as_the_edit(probe: Probe, tmp_path: Path) -> None:
    edit = tmp_path / "edit.py"
    edit.write_bytes(GAN.read_bytes() + b"# as before\n")
    made = make(probe, GAN, edit=edit)
    assert made.report.outcome is Outcome.STILL_FAILING
    assert "<h2>The edit</h2>" in made.page
    assert "# as before" in made.page


# Text from the script -------------------------------------------------------------------------------------------------


@pytest.mark.torch
def test_markup_in_the_script_stays_text(hostile: Made) -> None:
    assert hostile.pictures.before is not None
    assert any("script" in node.name for node in hostile.pictures.before.nodes)
    assert "<script" not in hostile.page
    assert "<img" not in hostile.page
    assert hostile.page.count("<title>") == hostile.page.count("</title>")


# The command line -----------------------------------------------------------------------------------------------------


@pytest.mark.apart("long")
@pytest.mark.torch
def test_the_option_writes_the_page_and_a_second_run_replaces_it(tmp_path: Path) -> None:
    shutil.copy(FIRST / "leaf_plus_equals" / "broken.py", tmp_path / "train.py")
    for _ in range(2):
        done = autofix("fix", "--report", "page.html", "--output-format", "json", "train.py", cwd=tmp_path)
        assert done.returncode == 1, done.stderr
        assert json.loads(done.stdout)["outcome"] == "available"
        assert "page.html shows what went wrong" in done.stderr
    assert "torch refuses this" in (tmp_path / "page.html").read_text("utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page.html", "train.py"]


def test_a_page_never_replaces_what_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("", "utf-8")
    (tmp_path / "mine.html").write_text("<p>mine</p>", "utf-8")
    for name, reason in (
        ("mine.html", "is not a report of autofix"), ("train.py", "ends in .html"), ("no/page.html", "no folder no"),
    ):  # fmt: skip
        assert cli.main(["fix", "--report", name, "train.py"]) == cli.CANNOT
        said = capfd.readouterr().err
        assert reason in said
        assert said.count("\n") == 1
    assert (tmp_path / "mine.html").read_text("utf-8") == "<p>mine</p>"


def test_a_missing_layout_library_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.py").write_text("", "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "fast_sugiyama", None)
    assert cli.main(["fix", "--report", "page.html", "train.py"]) == cli.CANNOT
    said = capfd.readouterr().err
    assert said.count("\n") == 1
    assert "pip install 'autofix[report]'" in said


# A browser ------------------------------------------------------------------------------------------------------------

_OUTSIDE = """
const found = [];
for (const box of document.querySelectorAll('.scroll .box')) {
  const frame = [...box.querySelectorAll('rect')].pop().getBBox();
  for (const text of box.querySelectorAll('text')) {
    const own = text.getBBox();
    if (own.x + own.width > frame.x + frame.width + 1 || own.y + own.height > frame.y + frame.height + 1)
      found.push(text.textContent);
  }
}
return found;
"""


_MEASURED = """
const svg = document.querySelector('#before .scroll svg'), frame = svg.parentElement;
return {
  page: document.documentElement.scrollWidth, paper: getComputedStyle(document.body).backgroundColor,
  scale: svg.getBoundingClientRect().width / svg.viewBox.baseVal.width,
  whole: frame.scrollWidth <= frame.clientWidth + 1 && frame.scrollHeight <= frame.clientHeight + 1,
  letters: [...document.querySelectorAll('svg text')].map(text => parseFloat(getComputedStyle(text).fontSize)),
  plots: [...document.querySelectorAll('.plots .axis')].map(text => ({
    right: text.getBoundingClientRect().right, edge: text.ownerSVGElement.getBoundingClientRect().right })),
};
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    chromium, driver = CHROMIUM, program("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("there is no chromium with its driver (Debian: chromium, chromium-driver)")
    from selenium import webdriver  # noqa: PLC0415

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for word in (
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--window-size=1280,900",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        f"--user-data-dir={tmp_path_factory.mktemp('profile')}",
    ):  # fmt: skip
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    running = webdriver.Chrome(options, webdriver.ChromeService(driver))
    yield running
    running.quit()


def opened(browser: Any, made: Made, folder: Path) -> None:
    path = folder / "page.html"
    path.write_text(made.page, "utf-8")
    browser.get("about:blank")
    browser.get_log("performance")
    browser.get_log("browser")
    browser.get(path.as_uri())


@pytest.mark.torch
@pytest.mark.parametrize("name", ["gan", "deep", "hostile"])
def test_a_browser_shows_every_word_in_its_box_and_loads_nothing(
    name: str, browser: Any, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    made: Made = request.getfixturevalue(name)
    opened(browser, made, tmp_path)
    assert browser.execute_script(_OUTSIDE) == []
    assert len(browser.find_elements("css selector", "#before .box")) > 2
    assert browser.execute_script("return document.querySelectorAll('script, img, iframe, link').length") == 0
    assert browser.title != "owned"
    assert browser.get_log("browser") == []
    sent = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = {one["params"]["request"]["url"] for one in sent if one["method"] == "Network.requestWillBeSent"}
    assert asked == {(tmp_path / "page.html").as_uri()}


@pytest.mark.torch
def test_light_and_dark_are_both_readable(browser: Any, gan: Made, tmp_path: Path) -> None:
    seen = {}
    for scheme in ("light", "dark"):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        opened(browser, gan, tmp_path)
        seen[scheme] = [
            browser.find_element("tag name", "body").value_of_css_property("background-color"),
            browser.find_element("css selector", ".box .title").value_of_css_property("fill"),
            browser.find_element("css selector", ".box.failed rect").value_of_css_property("fill"),
        ]
        brightness = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in seen[scheme]]
        assert abs(brightness[0] - brightness[1]) > 400
        assert abs(brightness[2] - brightness[1]) > 300
    assert all(light != dark for light, dark in zip(seen["light"], seen["dark"], strict=True))


@pytest.mark.torch
@pytest.mark.parametrize(("width", "media"), [(390, "screen"), (1280, "screen"), (720, "print")])
def test_a_drawing_is_readable_at_every_width_and_on_paper(
    width: int, media: str, browser: Any, deep: Made, tmp_path: Path
) -> None:
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": dark})
    try:
        opened(browser, deep, tmp_path)
        measured = browser.execute_script(_MEASURED)
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    assert measured["page"] <= width  # a wide drawing scrolls in its frame, the page does not
    assert all(text["right"] <= text["edge"] + 1 for text in measured["plots"])
    if media == "print":
        assert measured["whole"]
        assert sum(map(int, re.findall(r"\d+", measured["paper"])[:3])) > 700  # light, whatever the screen is
    else:
        assert measured["scale"] >= 0.99
        assert min(measured["letters"]) * measured["scale"] >= 11.99


@pytest.mark.torch
@pytest.mark.parametrize(
    ("name", "width"),
    [("gan", 1440), ("gan", 800), ("deep", 1440), pytest.param("deep", 800, marks=pytest.mark.apart("long"))],
)
def test_before_and_after_stand_side_by_side_where_there_is_room(
    name: str, width: int, browser: Any, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    made: Made = request.getfixturevalue(name)
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        opened(browser, made, tmp_path)
        script = "return ['before', 'after'].map(id => document.getElementById(id).getBoundingClientRect().top)"
        before, after = browser.execute_script(script)
        order = browser.execute_script("return [...document.querySelectorAll('body > section')].map(one => one.id)")
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    room = sum(map(int, re.findall(r"#(?:before|after) .scroll svg { min-width: (\d+)px", made.page))) + 90
    assert (before == after) is (room <= min(width, 1344))
    assert order[:4] == ["story", "fix", "gradients", "graphs"]


@pytest.mark.torch
def test_a_question_stands_before_the_edits(gan: Made) -> None:
    answers = (
        Answer("own", "G does not learn from loss_d", None, 0),
        Answer("both", "G also learns from loss_d", None),
    )
    assert gan.report.diagnosis is not None
    place = gan.report.diagnosis.failure.stack
    asked = Question("loss-trains-two-networks", "Should G also learn from `loss_d`?", place, answers)
    made = replace(gan.report, question=asked)
    text = html.unescape(page.as_html(made, render.Snapshot(made), gan.pictures))
    question = text[text.index('<section id="question">') : text.index('<section id="fix">')]
    assert "Should G also learn from <code>loss_d</code>?" in question
    assert "<code>--reading own</code>: G does not learn from loss_d" in question
    assert "(no edit found does so; <code>autofix verify --reading both</code> judges one of yours by it)" in question
    answered = replace(made, question=replace(asked, chosen="own"))
    text = page.as_html(answered, render.Snapshot(answered), gan.pictures)
    assert "What was answered" in text
    assert "--reading both" not in text


@pytest.mark.torch
def test_a_stage_far_from_the_failure_keeps_its_parameters_to_itself(deep: Made) -> None:
    assert deep.pictures.before is not None
    drawn = collapse.collapse(deep.pictures.before)
    kinds = [{deep.pictures.before.nodes[number].kind for number in box.members} for box in drawn.boxes]
    alone = [box for box, kind in zip(drawn.boxes, kinds, strict=True) if kind == {"leaf"}]
    near = {number for number, node in enumerate(deep.pictures.before.nodes) if node.failed}
    users = collapse._ends(deep.pictures.before.edges)
    beside = collapse._near(deep.pictures.before, frozenset())
    assert near
    assert all({user for number in box.members for user in users[number]} & beside for box in alone)


def test_a_long_name_keeps_its_end() -> None:
    assert drawing._fitted("model.layer4.1.excite.up.weight", 25) == "…ayer4.1.excite.up.weight"
    assert drawing._fitted("a sentence that is longer than that", 12) == "a sentence …"
    assert drawing._fitted("short.name.here", 25) == "short.name.here"
