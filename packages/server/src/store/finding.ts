/** One thing that `firsthand doctor` has examined. */
export interface Finding {
  readonly name: string;
  /** Somebody needs to act when it isn't. */
  readonly ok: boolean;
  readonly detail: string;
}
