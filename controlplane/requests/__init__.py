"""What each request meets before any page: proxies, sizes, origins; not pages."""
