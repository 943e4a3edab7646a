/**
 * Detects when the parent process ends. `npx firsthand serve` runs npm, which runs a shell, which runs this process.
 * npm forwards a signal to the shell, which exits without forwarding it, so this process gets a new parent.
 *
 * A SIGINT sent only to npx is not detected: npm forwards it, but dash keeps waiting for its command (bash exits).
 */

const pollMilliseconds = 200;

interface ParentOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly parentID?: () => number;
}

/** Whether npm or npx started this process, directly or through a shell. */
export const wasStartedByNpm = (env: ParentOptions['env'] = process.env): boolean =>
  env.npm_command !== undefined || env.npm_lifecycle_event !== undefined;

/**
 * Calls `onExit` once, within 0.2 s of the parent's exit. Does nothing unless npm started this process, because other
 * programs can start a server and exit before it does.
 */
export const watchParent = (
  onExit: () => void,
  { env = process.env, parentID = () => process.ppid }: ParentOptions = {},
): void => {
  if (!wasStartedByNpm(env)) return;
  const parent = parentID();
  const timer = setInterval(() => {
    if (parentID() === parent) return;
    clearInterval(timer);
    onExit();
  }, pollMilliseconds);
  timer.unref();
};
