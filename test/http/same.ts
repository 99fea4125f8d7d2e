// same(x, y) of the security checks: status, body and headers are equal, but for the date and the request's id.
import { expect } from "chai";
import type { Answer } from "../support/service.js";

export function same(one: Answer, two: Answer): void {
  const visible = ({ status, text, headers }: Answer) => {
    const { date: _date, "x-request-id": _id, ...rest } = headers;
    return { status, text, headers: rest };
  };
  expect(visible(one)).to.deep.equal(visible(two));
}
