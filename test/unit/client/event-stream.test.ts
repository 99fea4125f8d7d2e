// The client's reader of event streams: the text may come in pieces of any size.
import { expect } from "chai";
import fastCheck from "fast-check";
import { createParser as reference } from "eventsource-parser";
import { createParser, type StreamEvent } from "../../../lib/client/event-stream.js";

function parse(pieces: readonly string[]): { events: StreamEvent[]; comments: string[] } {
  const events: StreamEvent[] = [];
  const comments: string[] = [];
  const read = createParser({ event: (event) => events.push(event), comment: (text) => comments.push(text) });
  for (const piece of pieces) read(piece);
  return { events, comments };
}

describe("client: event stream", () => {
  it("reads events, ids and comments", () => {
    expect(parse(['event: connect\ndata: {"clientId":"x"}\n\n: heartbeat\n\nevent: tasks\nid: 7\ndata: {}\n\n'])).to.deep.equal({
      events: [{ event: "connect", data: '{"clientId":"x"}', id: undefined }, { event: "tasks", data: "{}", id: "7" }],
      comments: ["heartbeat"],
    });
  });

  it("does not care how the text is cut", () => {
    const text = 'event: a\nid: 1\ndata: {"t":"ü 🙂"}\n\n: heartbeat\r\n\r\nevent: b\r\ndata: 1\r\ndata: 2\r\n\r\ndata: x\r\r';
    const whole = parse([text]);
    expect(whole.events).to.have.length(3);
    fastCheck.assert(fastCheck.property(fastCheck.array(fastCheck.nat(text.length)), (cuts) => {
      const at = [0, ...cuts.sort((a, b) => a - b), text.length];
      expect(parse(at.slice(1).map((end, index) => text.slice(at[index], end)))).to.deep.equal(whole);
    }));
  });

  it("reads any stream as the reference does", () => {
    const field = fastCheck.constantFrom("event", "data", "id", "retry", "other", "", "data:", " data");
    const line = fastCheck.oneof(
      fastCheck.tuple(field, fastCheck.constantFrom(":", ": ", ":  ", ""), fastCheck.constantFrom("", "a", "a:b", "{}")).map((parts) => parts.join("")),
      fastCheck.constant(""),
    );
    const stream = fastCheck.array(fastCheck.tuple(line, fastCheck.constantFrom("\n", "\r\n"))).map((lines) => `${lines.flat().join("")}\n\n`);
    fastCheck.assert(fastCheck.property(stream, (text) => {
      const expected: { event: string; data: string }[] = [];
      const parser = reference({ onEvent: ({ event, data }) => expected.push({ event: event ?? "message", data }) });
      parser.feed(text);
      expect(parse([text]).events.map(({ event, data }) => ({ event, data }))).to.deep.equal(expected);
    }));
  });
});
