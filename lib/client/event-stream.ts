// Reads an event stream (text/event-stream) from a response's body, block by block.

export interface StreamEvent {
  readonly event: string;
  readonly data: string;
  readonly id: string | undefined;
}

export interface EventHandlers {
  readonly event: (event: StreamEvent) => void;
  /** A comment line, without its colon. */
  readonly comment: (text: string) => void;
}

/** Resolves when the stream ends. Rejects where the connection is lost. */
export async function readEvents(body: ReadableStream<Uint8Array>, handlers: EventHandlers): Promise<void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const parser = createParser(handlers);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      parser(decoder.decode(value, { stream: true }));
    }
  } finally {
    reader.releaseLock();
  }
}

/** Takes the stream's text in pieces of any size. Line ends are LF, CR LF or CR. */
export function createParser({ event, comment }: EventHandlers): (text: string) => void {
  let rest = "";
  let endedWithReturn = false;
  let name = "";
  let id: string | undefined;
  let data: string[] = [];

  function line(text: string): void {
    if (text === "") {
      if (data.length > 0) event({ event: name === "" ? "message" : name, data: data.join("\n"), id });
      name = "";
      id = undefined;
      data = [];
      return;
    }
    const colon = text.indexOf(":");
    if (colon === 0) {
      comment(text.slice(1).trim());
      return;
    }
    const field = colon === -1 ? text : text.slice(0, colon);
    const value = colon === -1 ? "" : text.slice(text[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "event") name = value;
    else if (field === "id") id = value;
    else if (field === "data") data.push(value);
  }

  return (text) => {
    const piece = endedWithReturn && text.startsWith("\n") ? text.slice(1) : text;
    if (piece === "") return;
    endedWithReturn = piece.endsWith("\r");
    const lines = (rest + piece).split(/\r\n|\n|\r/);
    rest = lines.pop()!;
    for (const one of lines) line(one);
  };
}
