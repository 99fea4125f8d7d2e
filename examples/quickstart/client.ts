// A client of a dozen lines over fetch, and the shapes that the quickstart reads.

export interface Book {
  readonly id: string;
  readonly title: string;
  readonly author: string;
  readonly year: number;
  readonly price: number;
  readonly available: boolean;
}

export interface Wish {
  readonly note: string;
  readonly expand?: { readonly book?: Book };
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
  readonly total?: number;
}

export interface Ask {
  readonly token?: string | undefined;
  /** Slug, for a request without a user's token. */
  readonly tenant?: string;
  readonly body?: object;
  readonly csv?: string;
}

type Body = Record<string, any>;

export function createClient(url: string) {
  async function ask(method: string, path: string, { token, tenant, body, csv }: Ask = {}): Promise<{ readonly status: number; readonly body: Body }> {
    const headers = {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(tenant === undefined ? {} : { "x-tenant": tenant }),
      ...(body === undefined && csv === undefined ? {} : { "content-type": csv === undefined ? "application/json" : "text/csv" }),
    };
    const answer = await fetch(`${url}${path}`, { method, headers, ...(body === undefined && csv === undefined ? {} : { body: csv ?? JSON.stringify(body) }) });
    const text = await answer.text();
    return { status: answer.status, body: text === "" ? {} : (JSON.parse(text) as Body) };
  }

  return {
    ask,
    /** The body of an answer with this status; an error that shows any other. */
    async demand(status: number, method: string, path: string, given: Ask = {}): Promise<Body> {
      const answer = await ask(method, path, given);
      if (answer.status !== status) throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
      return answer.body;
    },
  };
}
