/** A shop's site, the real service behind it, and the gate between them. */
import type { Tracker } from '../../src/index.ts';
import type { Tab } from '../engines/engine.ts';
import { waitFor } from '../engines/processes.ts';
import { type Gate, openGate } from './gate.ts';
import { openService, type Service } from './service.ts';
import { openSite, type Site } from './site.ts';

declare const tracker: Tracker;

export interface Shop {
  readonly service: Service;
  readonly gate: Gate;
  readonly site: Site;
  close(): Promise<void>;
}

export const openShop = async (): Promise<Shop> => {
  const service = await openService();
  const gate = await openGate(Number(new URL(service.url).port));
  const site = await openSite(gate.url);
  return {
    service,
    gate,
    site,
    close: async () => {
      site.close();
      await gate.down();
      await service.close();
    },
  };
};

/** Waits until the script has taken over from the snippet's stub. */
export const waitForTracker = async (tab: Tab): Promise<Tab> => {
  await waitFor('the tracker', async () => (await tab.run(() => Object.hasOwn(tracker, 'push'))) || undefined);
  return tab;
};

export const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
