"""How Sphinx makes the site from what scripts/documentation_site.py lays out; nothing comes from the network."""

project = "txop"
author = "the txop contributors"
html_title = "txop"
copyright = "the txop contributors; MIT or Apache-2.0"
extensions = ["myst_parser"]
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_theme_options = {"footer_icons": []}
html_copy_source = False
html_show_sphinx = False
html_last_updated_fmt = None  # the same sources make the same bytes

# Anchors are those of a code host: a heading's words in lower case with hyphens.
myst_heading_anchors = 4
highlight_language = "none"
pygments_style = "default"
pygments_dark_style = "github-dark"
suppress_warnings = ["misc.highlighting_failure"]
