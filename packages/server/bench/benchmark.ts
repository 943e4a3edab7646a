/** A benchmark's options and the rows of its table. */

export interface Options {
  /** Run short versions of the benchmarks: about a minute in total. */
  readonly quick: boolean;
  /** The number of events stored before the measurement. */
  readonly events: number;
  /** The duration of sustained load, in minutes. */
  readonly minutes: number;
}

/** A figure and its comparison. */
export interface Row {
  readonly measured: string;
  /** The reference figure: the best possible result, or the result to match. */
  readonly floor?: string;
  readonly ours: string;
  /** Ours ÷ floor. */
  readonly ratio?: string;
  /** The target; '' for a figure that only explains another. */
  readonly bar: string;
}

export interface Benchmark {
  run(options: Options): Promise<Row[]>;
}
