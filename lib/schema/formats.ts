// Formats of EMAIL and URL values.
import Joi from "joi";

/** Longest URL, in characters. */
export const maxUrlLength = 2048;

const address = Joi.string().email({ tlds: { allow: false } }).required();
const forbiddenInAddress = /[\p{C}\s,;:<>()[\]\\"]/u;
const forbiddenInUrl = /[\p{Cc}\p{Cs}\s]/u;

/** Whether the text is one plain e-mail address: no display name, no list, nothing that could add a recipient or a header. */
export function isEmail(text: string): boolean {
  return text.length <= 254 && !forbiddenInAddress.test(text) && address.validate(text, { convert: false }).error === undefined;
}

/** Whether the text is an absolute http or https URL. */
export function isHttpUrl(text: string): boolean {
  return text.length <= maxUrlLength && /^https?:\/\//i.test(text) && !forbiddenInUrl.test(text) && URL.canParse(text);
}
