/** Published Node clients of Segment's HTTP API, with a common interface. */
import { Analytics as CustomerioAnalytics } from '@customerio/cdp-analytics-node';
import RudderAnalytics from '@rudderstack/rudder-sdk-node';
import { Analytics as SegmentAnalytics } from '@segment/analytics-node';

interface Message {
  readonly anonymousId: string;
  readonly userId?: string;
}

export interface PublishedClient {
  /** Resolves when the client has received 200 for its batch. Rejects if the client gives up. */
  track(message: Message & { readonly event: string; readonly properties: Record<string, number> }): Promise<void>;
  identify(message: Message & { readonly traits: Record<string, string> }): Promise<void>;
  /** Sends what is in the queue. Call it repeatedly until all messages have settled. */
  flush(): void;
}

type OpenClient = (settings: { readonly writeKey: string; readonly host: string }) => PublishedClient;

const messagesPerBatch = 5;
/**
 * The maximum number of retries: more than a test needs, because a client that gives up loses its messages, as its
 * documentation states.
 */
const retries = 1_000;

const settle = (send: (done: (error?: unknown) => void) => void): Promise<void> =>
  new Promise((resolve, reject) => send((error) => (error ? reject(error) : resolve())));

/** Customer.io's client is a fork of Segment's. */
const wrapSegment = (analytics: SegmentAnalytics | CustomerioAnalytics): PublishedClient => ({
  track: (message) => settle((done) => analytics.track(message, done)),
  identify: (message) => settle((done) => analytics.identify(message, done)),
  // The client sends a batch when it is full, or after `flushInterval`.
  flush: () => {},
});

export const publishedClients: Readonly<Record<string, OpenClient>> = {
  '@segment/analytics-node': (settings) =>
    wrapSegment(
      new SegmentAnalytics({ ...settings, flushAt: messagesPerBatch, flushInterval: 100, maxRetries: retries }),
    ),
  '@customerio/cdp-analytics-node': (settings) =>
    wrapSegment(
      new CustomerioAnalytics({
        ...{ ...settings, maxEventsInBatch: messagesPerBatch, flushInterval: 100, maxRetries: retries },
      }),
    ),
  '@rudderstack/rudder-sdk-node': ({ writeKey, host }) => {
    const analytics = new RudderAnalytics(writeKey, {
      ...{ dataPlaneUrl: host, flushAt: messagesPerBatch, flushInterval: 100, retryCount: retries, logLevel: 'none' },
      axiosRetryConfig: { retryDelay: () => 100 },
      // Without this listener, an error would also be thrown.
      errorHandler: () => {},
    });
    return {
      track: (message) => settle((done) => analytics.track(message, done)),
      identify: (message) => settle((done) => analytics.identify(message, done)),
      flush: () => void analytics.flush(),
    };
  },
};
