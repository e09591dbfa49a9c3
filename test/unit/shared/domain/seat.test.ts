import { describe, expect, it } from 'vitest';
import {
  isSeatPosition,
  LEAD_COLOR,
  LEAD_POSITION,
  SEAT_ORDER,
  seatColor,
  seatNumber,
} from '../../../../src/shared/domain/seat.ts';

describe('the seats', () => {
  it('has eight seats around the lead, filled in reading order', () => {
    expect(SEAT_ORDER).toEqual([0, 1, 2, 3, 5, 6, 7, 8]);
    expect(LEAD_POSITION).toBe(4);
    expect([-1, 0, 4, 8, 9, 0.5, '0', null].map(isSeatPosition)).toEqual([
      false,
      true,
      false,
      true,
      false,
      false,
      false,
      false,
    ]);
  });

  it('counts the seats from 1 for people', () => {
    expect([0, 4, 8].map(seatNumber)).toEqual([1, 5, 9]);
  });

  it('gives each seat its own colour, and the lead alone gold', () => {
    expect(SEAT_ORDER.map((position) => Object.values(seatColor(position)).join(' '))).toEqual([
      '#c9b1e8 Violet Heaven',
      '#755d00 Ayahuasca Vine',
      '#00afd1 Aquarius',
      '#007e98 Pacific Pleasure',
      '#c85cb4 Barbiecore',
      '#da89c9 Pink Punk',
      '#B8DDE6 Salt Air',
      '#F2C4B0 Cloud Coral',
    ]);
    const colors = [LEAD_COLOR, ...SEAT_ORDER.map(seatColor)].map((each) => each.color.toLowerCase());
    expect(new Set(colors).size).toBe(9);
    expect(LEAD_COLOR.color).toBe('#FFD600');
  });
});
