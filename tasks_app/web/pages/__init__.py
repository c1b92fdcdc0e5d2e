"""One module a page, one function an address."""
