"""The end of a seller's day as a saga: tariff, discount, invoice, notification."""
