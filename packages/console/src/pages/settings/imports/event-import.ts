/** Imports one events file at a time, even while other console pages are shown. */
import {
  detectFormat,
  type EventCounts,
  formats,
  hashStream,
  importEvents,
  readMessages,
} from '@firsthand/import-formats';
import { computed, signal } from '@preact/signals';
import { api, messageOf } from '../../../api.ts';
import { hideNotice } from '../../../parts/notices.tsx';
import { clearFetchCache } from '../../../reading/use-fetch.ts';
import { session } from '../../../session.ts';

/** A refused row. */
export interface Refusal {
  readonly line: number;
  readonly reason: string;
}

export interface EventImport {
  readonly file: File;
  readonly isDryRun: boolean;
  readonly state: 'checking' | 'importing' | 'waiting' | 'done' | 'repeated' | 'stopped';
  /** How many bytes of the file have been read in this state. */
  readonly bytes: number;
  readonly counts: EventCounts;
  /** How many rows could not be sent. `counts.refused` does not include them once the import is done. */
  readonly invalid: number;
  /** The first refused rows. */
  readonly refusals: readonly Refusal[];
  /** The name of the tool that the file comes from; '' if it is not known yet. */
  readonly tool: string;
  /** Absent in a dry run, and until the server has created the import. */
  readonly importID?: string;
  /** Why the import stopped; '' if it didn't, or was canceled. */
  readonly problem: string;
}

export const maxRefusals = 10_000;

/** The import started on this page. Starting another one replaces it. */
export const eventImport = signal<EventImport | undefined>(undefined);

let controller = new AbortController();
export const cancelEventImport = (): void => controller.abort();

export const isRunning = computed(() => ['checking', 'importing', 'waiting'].includes(eventImport.value?.state ?? ''));
/** The import that is running on this page. Changes less often than its progress. */
export const runningID = computed(() => (isRunning.value ? eventImport.value?.importID : undefined));

interface Run {
  readonly signal: AbortSignal;
  readonly update: (fields: Partial<EventImport>) => void;
}

/** How much of a file to read between progress updates, because each renders the page. */
const progressShare = 1 / 200;

const open = (file: File, { signal, update }: Run): ReadableStream<Uint8Array> => {
  let [bytes, shown] = [0, 0];
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, output) {
      bytes += chunk.length;
      if (bytes - shown >= file.size * progressShare) {
        shown = bytes;
        update({ bytes });
      }
      output.enqueue(chunk);
    },
  });
  return file.stream().pipeThrough(counter, { signal });
};

const requestMs = 60_000;

const importFile = async (file: File, isDryRun: boolean, run: Run): Promise<void> => {
  const { signal, update } = run;
  const format = await detectFormat(file.stream());
  update({ tool: formats[format].label });
  const onRetry = () => update({ state: 'waiting' });
  const options = { signal, timeoutMs: requestMs, retries: Infinity, onRetry };
  const fingerprint = isDryRun ? '' : await hashStream(open(file, run));
  const create = () => api.createImport({ kind: 'events', importName: file.name, fingerprint }, options);
  const created = isDryRun ? undefined : await create();
  if (created?.state === 'complete') return update({ state: 'repeated' });
  const { importID, position = 0, imported = 0, repeated = 0, refused = 0 } = created ?? {};
  update({ state: 'importing', bytes: 0, ...(importID !== undefined && { importID }) });
  const refusals: Refusal[] = [];
  const { unreadable, ...counts } = await importEvents({
    readings: readMessages(open(file, run), format),
    position,
    send: async (batch) => {
      const target = isDryRun ? { dryRun: true } : { importID };
      const response = await api.importEvents({ ...batch, ...target }, options);
      update({ state: 'importing' });
      return response;
    },
    onRefused: (line, reason) => {
      if (refusals.length < maxRefusals) refusals.push({ line, reason });
    },
    onProgress: (sent) =>
      update({
        refusals,
        counts: {
          skipped: sent.skipped,
          imported: imported + sent.imported,
          repeated: repeated + sent.repeated,
          refused: refused + sent.refused,
        },
      }),
  });
  // If a response was lost, only the server has its counts.
  const total = isDryRun ? counts : await create();
  update({
    state: 'done',
    refusals,
    invalid: unreadable,
    counts: {
      skipped: counts.skipped,
      imported: total.imported,
      repeated: total.repeated,
      refused: isDryRun ? counts.refused - unreadable : total.refused,
    },
  });
};

const warn = (event: BeforeUnloadEvent): void => event.preventDefault();

/** Imports a file, or only checks it. The result is in `eventImport`. */
export const startEventImport = async (file: File, isDryRun: boolean): Promise<void> => {
  hideNotice();
  const own = new AbortController();
  controller = own;
  const { signal } = own;
  const counts = { imported: 0, repeated: 0, refused: 0, skipped: {} };
  const nothing = { counts, bytes: 0, invalid: 0, refusals: [], tool: '', problem: '' };
  eventImport.value = { file, isDryRun, state: 'checking', ...nothing };
  const update = (fields: Partial<EventImport>): void => {
    if (eventImport.value && controller === own) eventImport.value = { ...eventImport.value, ...fields };
  };
  const sessionID = session.peek()?.sessionID;
  // Cancel the import when the session changes: the new session may be for another account.
  const unsubscribe = session.subscribe((current) => {
    if (current?.sessionID === sessionID) return;
    own.abort();
    eventImport.value = undefined;
  });
  addEventListener('beforeunload', warn);
  try {
    await importFile(file, isDryRun, { signal, update });
  } catch (error) {
    update({ state: 'stopped', problem: signal.aborted ? '' : messageOf(error) });
  }
  removeEventListener('beforeunload', warn);
  unsubscribe();
  clearFetchCache();
};
