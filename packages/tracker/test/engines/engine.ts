/** The interface for controlling a real browser in tests, the same for each engine. */

export interface Engine {
  readonly name: string;
  /**
   * How long the browser takes to write a localStorage change to disk. Until then, killing the browser loses the
   * change; killing the page does not.
   */
  readonly flushMilliseconds: number;
  /** Whether a page always gets `pagehide` when its tab is closed. */
  readonly firesPagehideOnClose: boolean;
  /** Whether a page has `window.navigation`. */
  readonly hasNavigationAPI: boolean;
  /** Starts a separate browser, with an empty profile unless a profile folder is given. */
  launch(options?: LaunchOptions): Promise<Session>;
}

export interface LaunchOptions {
  /**
   * Keeps cookies and localStorage after the browser exits; created if missing. Without a profile folder, they are
   * discarded.
   */
  readonly profileFolder?: string | undefined;
  /** A plain HTTP proxy on 127.0.0.1 for every host, including `localhost`, so that a page can be on any host. */
  readonly proxyPort?: number | undefined;
}

export interface Session {
  /** Opens another tab, and resolves when its page has loaded. WebKit with a profile folder has five tabs at most. */
  openTab(url: string): Promise<Tab>;
  /**
   * Kills the processes that render this browser's pages, as if memory ran out; openTab still works. Needs a session
   * with a profile folder: otherwise WebKit's driver exits when its page crashes.
   */
  crashTabs(): Promise<void>;
  /** Kills the browser and its child processes (SIGKILL). A profile folder stays as it is at that moment. */
  kill(): Promise<void>;
  /** Closes the browser normally. Harmless after `kill`. */
  close(): Promise<void>;
}

/** Keys that produce no character, by their names in UI Events (KeyboardEvent.key). */
export type Key = 'Tab' | 'Enter' | 'Escape' | 'ArrowDown' | 'ArrowRight';

export interface Tab {
  /** Resolves when the page has loaded. */
  goto(url: string): Promise<void>;
  /** Runs a function in the page. It can't access variables of the test; arguments and result are passed as JSON. */
  run<Args extends readonly unknown[], Result>(script: (...args: Args) => Result, ...args: Args): Promise<Result>;
  /** Presses a key as a user does. */
  key(key: Key): Promise<void>;
  /** Types text, letter by letter. */
  type(text: string): Promise<void>;
  /** Returns every cookie that a request to this tab's page would carry. */
  cookies(): Promise<Cookie[]>;
  /**
   * Adds a virtual authenticator (WebAuthn, section 11), built into the device or a USB key. Undefined if the engine
   * doesn't support WebAuthn.
   */
  readonly addAuthenticator?: (transport: 'internal' | 'usb') => Promise<Authenticator>;
  /** Closes the tab as a user does, without waiting; see `firesPagehideOnClose`. */
  close(): Promise<void>;
}

export interface Authenticator {
  /** Returns the number of passkeys in the authenticator. */
  count(): Promise<number>;
  /** Sets whether the authenticator verifies the user from now on. */
  verifies(isVerified: boolean): Promise<void>;
  /** Removes the authenticator and its passkeys from the browser. */
  remove(): Promise<void>;
}

export interface Cookie {
  readonly name: string;
  readonly value: string;
  /** As the browser stores it: with a leading dot if it is also sent to subdomains. */
  readonly domain: string;
  readonly path: string;
  /** Seconds since 1970; 0 for a session cookie. */
  readonly expires: number;
  readonly sameSite: string;
}
