/** What a benchmark is asked with, and what it answers: the rows of its table. */

export interface Options {
  /** Less of everything: all questions in about a minute. */
  readonly quick: boolean;
  /** Events that are stored before anything is measured. */
  readonly events: number;
  /** How long sustained load lasts. */
  readonly minutes: number;
}

/** One figure, beside what it is compared with. */
export interface Row {
  readonly measured: string;
  /** What cannot be beaten, or what it should not differ from. */
  readonly floor?: string;
  readonly ours: string;
  /** Ours ÷ floor. */
  readonly ratio?: string;
  /** What was promised; '' for a figure that only explains another. */
  readonly bar: string;
}

export interface Question {
  run(options: Options): Promise<Row[]>;
}
