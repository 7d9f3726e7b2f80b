"""External links of the documentation: found without a network, requested on demand."""

import httpx

from tools.manual.links import external_addresses, unreachable


def test_addresses_in_text_are_listed_and_those_in_code_are_not():
    addresses = external_addresses()
    assert "CHANGELOG.md" in addresses["https://semver.org"]
    assert not [address for address in addresses if "127.0.0.1" in address]


def test_an_address_without_an_answer_is_named_with_its_page():
    def reply(request: httpx.Request) -> httpx.Response:
        if request.url.host == "down.example":
            raise httpx.ConnectError("refused")
        return httpx.Response({"gone.example": 404, "login.example": 403}.get(request.url.host, 200))

    addresses = {f"https://{name}.example/": ["docs/index.md"] for name in ("down", "gone", "login", "there")}
    with httpx.Client(transport=httpx.MockTransport(reply)) as client:
        assert unreachable(addresses, client) == [
            "https://down.example/ (in docs/index.md): refused",
            "https://gone.example/ (in docs/index.md): status 404",
        ]
