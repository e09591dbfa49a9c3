import type { Page } from 'playwright-core';

/** Seats that touch each other, and words that leave their seat, as lines. */
export const crowdedIn = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const found: string[] = [];
    const seats = [...document.querySelectorAll<HTMLElement>('.seat')].map((seat) => ({
      seat,
      box: seat.getBoundingClientRect(),
    }));
    for (const [i, { seat, box }] of seats.entries()) {
      for (const { box: other } of seats.slice(i + 1))
        if (box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom)
          found.push(`seat ${i + 1} lies over another`);
      for (const part of seat.querySelectorAll('.seat-figure, .seat-name, .seat-sub')) {
        const inner = part.getBoundingClientRect();
        if (
          inner.height > 0 &&
          (inner.top < box.top || inner.bottom > box.bottom || inner.left < box.left || inner.right > box.right)
        )
          found.push(`${part.className} leaves seat ${i + 1}`);
      }
    }
    return found;
  });
