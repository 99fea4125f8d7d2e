// The CommonJS entry point: the same module, by require(esm) of Node 20.19 and later.
import service = require("./index.js");
export = service;
