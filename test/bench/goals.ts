// Goals that compare two subjects of a scenario.
import { ratio, type Figures, type Goal } from "./figures.js";

type Subjects = Readonly<Record<string, Figures>>;

/** Requests a second of one against another's. */
export function faster(subjects: Subjects, subject: string, yardstick: string, atLeast: number): Goal {
  return {
    text: `${subject} / ${yardstick}, requests a second`,
    atLeast,
    value: ratio(subjects[subject]!["perSecond"]!, subjects[yardstick]!["perSecond"]!),
    byCpu: ratio(subjects[yardstick]!["cpuUs"]!, subjects[subject]!["cpuUs"]!),
  };
}

/** The median latency of the yardstick against the subject's: above 1 where the subject is the quicker one. */
export function quicker(subjects: Subjects, subject: string, yardstick: string, atLeast: number): Goal {
  return {
    text: `${yardstick} / ${subject}, median latency`,
    atLeast,
    value: ratio(subjects[yardstick]!["p50Ms"]!, subjects[subject]!["p50Ms"]!),
  };
}
