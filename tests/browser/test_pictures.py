"""`tools.pictures` refuses pictures that would mislead a reader."""

import pytest

from tools.pictures.camera import Camera, EmptyFigure, MachinePath

EMPTY = "<svg xmlns='http://www.w3.org/2000/svg' width='200' height='200'></svg>"
FIGURE = """<img src="data:image/svg+xml,{}" width="200" height="200" alt="figure">"""

pytestmark = pytest.mark.browser


@pytest.fixture
def page_and_camera(chromium):
    camera = Camera(chromium, "http://localhost", width=1280, height=800, only=set())
    context = camera.somebody()
    yield context.new_page(), camera
    context.close()


def test_a_page_with_an_empty_figure_is_refused(page_and_camera):
    page, camera = page_and_camera
    page.set_content(FIGURE.format(EMPTY))
    with pytest.raises(EmptyFigure, match="example at 1280 px"):
        camera.take(page, "example")


def test_a_page_with_a_path_of_the_machine_is_refused(page_and_camera):
    page, camera = page_and_camera
    page.set_content("<p>arpa:../../tmp/abc/trigram.arpa</p>")
    with pytest.raises(MachinePath, match="trigram"):
        camera.take(page, "example")
