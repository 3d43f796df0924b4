"""How figures are presented: numbers, cells, tables, plots, the page around a report; nothing of what they mean."""
