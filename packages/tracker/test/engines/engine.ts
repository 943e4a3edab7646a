/** What a test asks of a real browser, whichever it is. */

export interface Engine {
  readonly name: string;
  /**
   * How long after a page's write to localStorage the browser has it on the disk. Before, a killed browser forgets it;
   * a killed page doesn't.
   */
  readonly flushMilliseconds: number;
  /** Whether a page always hears of it (`pagehide`) when its tab is closed. */
  readonly hearsClosing: boolean;
  /** Whether a page has `window.navigation`. */
  readonly hasNavigationAPI: boolean;
  /** Starts a browser of its own, with nothing remembered unless a profile folder says so. */
  launch(options?: LaunchOptions): Promise<Session>;
}

export interface LaunchOptions {
  /** Where cookies and localStorage outlive the browser; made when it isn't there. Without one they are thrown away. */
  readonly profileFolder?: string | undefined;
  /** A plain HTTP proxy on 127.0.0.1 for every host, `localhost` included: so a page can lie on any host. */
  readonly proxyPort?: number | undefined;
}

export interface Session {
  /**
   * Opens a tab beside those that are open, and resolves when its page has loaded. WebKit with a profile folder has
   * five tabs at most.
   */
  openTab(url: string): Promise<Tab>;
  /**
   * Kills the processes that render this browser's pages, as running out of memory does. The browser itself goes on, and
   * openTab opens the next tab. Only in a session with a profile folder: elsewhere WebKit's driver ends with its page.
   */
  crashTabs(): Promise<void>;
  /** Kills the browser with all that it has started (SIGKILL). A profile folder stays as it is at that moment. */
  kill(): Promise<void>;
  /** Ends the browser in an orderly way. Harmless after `kill`. */
  close(): Promise<void>;
}

/** Keys that type nothing, by the names of UI Events (KeyboardEvent.key). */
export type Key = 'Tab' | 'Enter' | 'Escape' | 'ArrowDown' | 'ArrowRight';

export interface Tab {
  /** Resolves when the page has loaded. */
  goto(url: string): Promise<void>;
  /** Runs a function in the page; it sees nothing of the test but its arguments, which travel as JSON, as its result does. */
  run<Args extends readonly unknown[], Result>(script: (...args: Args) => Result, ...args: Args): Promise<Result>;
  /** Presses a key, as its user does. */
  key(key: Key): Promise<void>;
  /** Types a text, letter by letter. */
  type(text: string): Promise<void>;
  /** Every cookie that a request to this tab's page would carry. */
  cookies(): Promise<Cookie[]>;
  /**
   * Gives the browser a virtual authenticator (WebAuthn, section 11): that of a device, or a key to plug in. undefined: the engine has no
   * WebAuthn.
   */
  readonly addAuthenticator?: (transport: 'internal' | 'usb') => Promise<Authenticator>;
  /** Closes it as its user does; see `hearsClosing`. Nothing is waited for. */
  close(): Promise<void>;
}

export interface Authenticator {
  /** How many passkeys it has. */
  count(): Promise<number>;
  /** Whether it verifies the person from now on. */
  verifies(isVerified: boolean): Promise<void>;
  /** Takes it from the browser, with its passkeys. */
  remove(): Promise<void>;
}

export interface Cookie {
  readonly name: string;
  readonly value: string;
  /** As the browser keeps it: with a dot in front when it goes to subdomains as well. */
  readonly domain: string;
  readonly path: string;
  /** Seconds since 1970; 0 for a cookie of the session. */
  readonly expires: number;
  readonly sameSite: string;
}
