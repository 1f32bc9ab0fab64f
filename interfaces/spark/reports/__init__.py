"""Reports: a page of HTML in one file, with plots as SVG and nothing from elsewhere."""
