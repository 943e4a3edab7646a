/** The console's pages, in navigation order. All but the overview are loaded when first opened. */
import type { ComponentType } from 'preact';

interface PageEntry {
  /** The last segment of the page's path; '' for the overview. */
  readonly name: string;
  readonly title: string;
  /** The key that opens the page after `g`. */
  readonly key: string;
  /** An SVG path for a 20 × 20 view box, drawn as a stroke. */
  readonly icon: string;
  /** Additional search words for the palette. */
  readonly words?: string;
  /** Absent if the page is in the entry script (page.tsx). */
  readonly load?: () => Promise<ComponentType>;
}

export const pages: readonly PageEntry[] = [
  {
    name: '',
    title: 'Overview',
    key: 'o',
    icon: 'M3 16V9m5 7V4m5 12v-5m4 5V7',
  },
  {
    name: 'live',
    title: 'Live',
    key: 'l',
    icon: 'M2 10h4l2.5-6 4 12 2.5-6h3',
    load: () => import('../pages/people-and-events.ts').then(({ Live }) => Live),
  },
  {
    name: 'events',
    title: 'Events',
    key: 'e',
    icon: 'M3 4h14l-5 6v6l-4-2v-4L3 4Z',
    load: () => import('../pages/people-and-events.ts').then(({ Events }) => Events),
  },
  {
    name: 'people',
    title: 'People',
    key: 'p',
    icon: 'M7.5 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM2 17c0-3 2.5-5 5.5-5s5.5 2 5.5 5m0-7.5a2.6 2.6 0 1 0-.5-5M15 12.3c1.9.6 3 2.3 3 4.7',
    words: 'erase',
    load: () => import('../pages/people-and-events.ts').then(({ People }) => People),
  },
  {
    name: 'catalogue',
    title: 'Catalogue',
    key: 'c',
    icon: 'M3 3h6.5L17 10.5 10.5 17 3 9.5V3Zm3.6 3.6h.01',
    load: () => import('../pages/managing.ts').then(({ Catalogue }) => Catalogue),
  },
  {
    name: 'settings',
    title: 'Settings',
    key: 't',
    icon: 'M3 6h8m4 0h2M3 14h2m4 0h8M13 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4Zm-6 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z',
    load: () => import('../pages/managing.ts').then(({ Settings }) => Settings),
  },
  {
    name: 'set-up',
    title: 'Set up',
    key: 's',
    icon: 'M4 10.5 8 14.5 16 5.5',
    load: () => import('../pages/managing.ts').then(({ SetUp }) => SetUp),
  },
];

/** Pages that are not in the navigation. */
export const secondaryPages: readonly Pick<PageEntry, 'name' | 'title' | 'load'>[] = [
  // main.tsx shows this page, without a session.
  { name: 'join', title: 'Join' },
  { name: 'person', title: 'Person', load: () => import('../pages/people-and-events.ts').then(({ Person }) => Person) },
];
