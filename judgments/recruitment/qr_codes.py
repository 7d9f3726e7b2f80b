"""QR codes of links, drawn on this server."""

import qrcode
import qrcode.image.svg
from django.utils.safestring import SafeString, mark_safe


def qr_svg(address: str) -> SafeString:
    """An address as a QR code in SVG, with the margin that cameras need."""
    code = qrcode.QRCode(image_factory=qrcode.image.svg.SvgPathImage, border=4)
    code.add_data(address)
    svg: str = code.make_image().to_string().decode()
    return mark_safe(svg)  # noqa: S308 - drawn from the code, without the address as text
