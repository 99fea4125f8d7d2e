// The service's own query parser: flat text, no structure, and a repeated parameter is an error. The host's
// `query parser` setting has no effect.
import { BadRequest } from "../core/errors.js";

const none: Readonly<Record<string, string>> = Object.freeze(Object.create(null) as Record<string, string>);

/** The parameters of a request target, as an object without a prototype. Throws BadRequest. */
export function readQuery(url: string): Readonly<Record<string, string>> {
  const start = url.indexOf("?");
  if (start === -1 || start === url.length - 1) return none;
  const parameters = Object.create(null) as Record<string, string>;
  // With its question mark: URLSearchParams takes one away, and a second one belongs to a name.
  for (const [name, value] of new URLSearchParams(url.slice(start))) {
    if (name in parameters) throw new BadRequest(`The query parameter ${JSON.stringify(name.slice(0, 60))} is given more than once`);
    parameters[name] = value;
  }
  return parameters;
}
