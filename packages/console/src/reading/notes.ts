/** The notes of a range, and of each interval in it. */
import type { ResponseFor } from '@firsthand/client';
import { api } from '../api.ts';
import { isShared } from './shared.ts';
import { type FetchState, useFetch } from './use-fetch.ts';

export type ListedNotes = ResponseFor<'listNotes'>;
export type Note = ListedNotes['note'][number];

interface TimeSpan {
  readonly from: string;
  readonly to: string;
}

const maxNotes = 500;

/** Notes are absent on the page of a share link, because they may be internal. */
export const useNotes = (intervals: readonly TimeSpan[], isOpen: boolean): FetchState<ListedNotes | undefined> => {
  const from = intervals[0]?.from;
  const to = isOpen ? undefined : intervals.at(-1)?.to;
  return useFetch(`notes ${from} ${to}`, async (signal) =>
    isShared || from === undefined ? undefined : api.listNotes({ from, to, limit: maxNotes }, { signal }),
  );
};

/** The texts of the notes in each interval, oldest first. Notes about the future are in no interval. */
export const findNotes = (notes: ListedNotes | undefined, intervals: readonly TimeSpan[]): string[][] => {
  const texts: string[][] = intervals.map(() => []);
  const now = new Date().toISOString();
  for (const { noteTime, noteText } of notes?.note ?? [])
    if (noteTime <= now) texts[intervals.findLastIndex(({ from }) => from <= noteTime)]?.unshift(noteText);
  return texts;
};
