"""A report as a page: elements, pictures and sections, of plain numbers and of no family.

What a report says of a posterior is written in `baytree.posterior.report`, and by each family in its own ``report.py``.
"""
