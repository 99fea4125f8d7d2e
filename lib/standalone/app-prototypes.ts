// The classes of a server's requests and responses, with the prototypes of an Express app. Express swaps the prototype of
// every request and response for its app's, which makes all that follows slow; where they have it from the start,
// nothing is left to swap.
import { IncomingMessage, ServerResponse, type ServerOptions } from "node:http";

/** What of an Express app is needed. */
export interface AppPrototypes {
  readonly request: object;
  readonly response: object;
}

/** The members of `createServer`'s options that give requests and responses the app's own prototypes. */
export function prototypesOf({ request, response }: AppPrototypes): Pick<ServerOptions, "IncomingMessage" | "ServerResponse"> {
  return {
    IncomingMessage: withPrototype(IncomingMessage, request) as typeof IncomingMessage,
    ServerResponse: withPrototype(ServerResponse, response) as typeof ServerResponse,
  };
}

/** Like a subclass of `base` whose instances have this very prototype. */
function withPrototype(base: new (...values: never[]) => object, prototype: object): unknown {
  // Node's two constructors are plain functions, which can be applied to an object that is there: five times as quick as Reflect.construct.
  const plain = !/^class\b/.test(Function.prototype.toString.call(base));
  function Made(this: object, ...values: never[]): object | void {
    if (plain) Reflect.apply(base as unknown as (...values: never[]) => void, this, values);
    else return Reflect.construct(base, values, Made);
  }
  Made.prototype = prototype;
  return Made;
}
