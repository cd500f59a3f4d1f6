// The documents of the API. Written by Scripts/clients from docs/openapi.json.
