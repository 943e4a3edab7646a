/** The options of a benchmark, and the rows of its table. */

export interface Options {
  /** Short forms: all questions in about a minute. */
  readonly quick: boolean;
  /** Events that are stored before anything is measured. */
  readonly events: number;
  /** The duration of sustained load. */
  readonly minutes: number;
}

/** One figure and its comparison. */
export interface Row {
  readonly measured: string;
  /** The figure that cannot be beaten, or should be reached. */
  readonly floor?: string;
  readonly ours: string;
  /** Ours ÷ floor. */
  readonly ratio?: string;
  /** The promised figure; '' for a figure that only explains another. */
  readonly bar: string;
}

export interface Question {
  run(options: Options): Promise<Row[]>;
}
