/** What a part of `npm run bench` is: one measurement, in two sizes. */
import type { Section } from './figures.ts';
import { OWN, SHARED, type Place } from './place.ts';

export interface Part {
  readonly name: string;
  /**
   * Where its smoke form can run: beside other tests of the relay, or beside other tests with a
   * browser.
   */
  readonly needs: 'relay' | 'browser';
  /** The figures. Minutes, on a quiet machine. */
  full(): Promise<Section>;
  /**
   * Every step of it once, at the least size that is something. Seconds; its figures mean nothing.
   */
  smoke(): Promise<Section>;
}

interface Definition<Sizes> extends Pick<Part, 'name' | 'needs'> {
  /** How much of everything. */
  readonly full: Sizes;
  readonly smoke: Sizes;
  run(sizes: Sizes, place: Place): Promise<Section>;
}

export const definePart = <Sizes>({ name, needs, full, smoke, run }: Definition<Sizes>): Part => ({
  name,
  needs,
  full: () => run(full, OWN),
  smoke: () => run(smoke, SHARED),
});

/** Answers with what it was given. It is closed when the part is over. */
export type Keep = <Opened>(opened: Opened, close: (opened: Opened) => unknown) => Opened;

/** Does it, and closes what was kept from the last to the first, however it ended. */
export async function withOpened<T>(run: (keep: Keep) => Promise<T>): Promise<T> {
  const closers: (() => unknown)[] = [];
  try {
    return await run((opened, close) => {
      closers.push(() => close(opened));
      return opened;
    });
  } finally {
    for (let close = closers.pop(); close; close = closers.pop()) await close();
  }
}
