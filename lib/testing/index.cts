// The CommonJS entry point of the conformance suites.
import suites = require("./index.js");
export = suites;
