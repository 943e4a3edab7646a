/** The current share link's view, if any. The page then shows only the reports of that view. */
import { signal } from '@preact/signals';
import { root, shareSecret } from '../address.ts';

export interface SharedView {
  readonly shareName: string;
  readonly viewPage: 'overview' | 'events';
  readonly viewQuery: string;
  readonly timezone: string;
  readonly currency: string;
  readonly expiresTime: string;
  readonly report: readonly { readonly part: string; readonly operation: string }[];
  readonly event: readonly { readonly eventID: number; readonly eventName: string }[];
  readonly attr: readonly { readonly attrID: string; readonly attrName: string; readonly attrType: string }[];
}

export const sharedView = signal<SharedView | undefined>(undefined);
/** Whether the link is invalid: revoked, expired or unknown. */
export const isLinkInvalid = signal(false);

export const isShared = shareSecret !== undefined;

/** Whether the page shows this part. Only a share link's page omits parts. */
export const showsPart = (part: string): boolean =>
  !isShared || sharedView.value?.report.some((each) => each.part === part) === true;

const maxAttempts = 5;
const pauseMs = 2_000;
const busy = [429, 503];

/** Sends a request for the share link. Retries a few times while the server is busy. */
const sendRequest = async (path: string, fields: object, signal?: AbortSignal): Promise<unknown> => {
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(`${root}/console/${path}`, {
      method: 'POST',
      // A share link's page must not use a console session.
      credentials: 'omit',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify({ shareSecret, ...fields }),
      ...(signal && { signal }),
    });
    const data = await response.json().catch(() => ({}));
    if (response.ok) return data;
    if (data.error?.code === 'unknown_share_link') isLinkInvalid.value = true;
    if (!busy.includes(response.status) || attempt === maxAttempts)
      throw new Error(data.error?.message ?? `The server responded with status ${response.status}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    signal?.throwIfAborted();
  }
};

export const readSharedView = async (): Promise<SharedView> => (await sendRequest('shared', {})) as SharedView;
export const readSharedReport = (part: string, signal: AbortSignal): Promise<unknown> =>
  sendRequest('shared/report', { part }, signal);
