// A certificate of localhost's own making, for TLS between tests and their servers. Valid for a hundred years.

export const certificate = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUOkOj/+Nj30tJH5xfJupl+KvireIwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTEwMDYwOVoYDzIxMjYxMDI4
MTAwNjA5WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASQ/cc1+gf54kNLrmneARBKPjpMaX5b4FEtgixGull+T3GidLb4oEtU
Akgex/TQ8YpQo97fMvneL2VbBoT9fuF3o28wbTAdBgNVHQ4EFgQU306BGKSmIlui
ScO/RONmQTkRbbEwHwYDVR0jBBgwFoAU306BGKSmIluiScO/RONmQTkRbbEwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIhAKeFR/x//vGSNCXGdINRk5oJvjkwc3w+cFiyk9K4aQUuAiBa
Sy2u5pFgPAP6Yh8xDrUaWDLuFWLLa3NnfmxxZTfkSw==
-----END CERTIFICATE-----
`;

export const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgoRKXotQuOL3dsQaO
gkKenawtvHJftB1CdLsbf6RK/WKhRANCAASQ/cc1+gf54kNLrmneARBKPjpMaX5b
4FEtgixGull+T3GidLb4oEtUAkgex/TQ8YpQo97fMvneL2VbBoT9fuF3
-----END PRIVATE KEY-----
`;
