/** Formats money and tokens. Money is in millionths of a US dollar. */
import { spoken, t } from '../../language/t.ts';
import type { Spent } from '../../../shared/protocol/costs.ts';

const MICRO = 1_000_000;
/** English readers outside the United Kingdom write dollars as `$12.41`. */
const LOCALE = spoken.language === 'en' ? 'en-US' : spoken.locale;
const dollars = (most: number, least = 2) =>
  new Intl.NumberFormat(LOCALE, {
    style: 'currency',
    currency: 'USD',
    minimumFractionDigits: least,
    maximumFractionDigits: most,
  });
const whole = dollars(0, 0);
const toCents = dollars(2);
const toTenThousandths = dollars(4);
/** The smallest amount that is shown exactly, in millionths. */
const LEAST = 100;
const compact = new Intl.NumberFormat(LOCALE, { notation: 'compact', maximumFractionDigits: 1 });

/** `$12.41`, `$0.0123`, `under $0.0001`, `$0` */
export function money(microUsd: number): string {
  if (microUsd === 0) return whole.format(0);
  if (microUsd < LEAST) return t`under ${toTenThousandths.format(LEAST / MICRO)}`;
  const usd = microUsd / MICRO;
  return (microUsd < MICRO ? toTenThousandths : toCents).format(usd);
}

/** As `money`, with a mark if the price was estimated. */
export const costText = ({ costMicroUsd, estimated }: Pick<Spent, 'costMicroUsd' | 'estimated'>): string =>
  `${estimated ? '≈ ' : ''}${money(costMicroUsd)}`;

/** A budget in dollars: `$2.00`, `$0.0005`. */
export const budgetText = (usd: number): string => (usd > 0 && usd < 0.01 ? toTenThousandths : toCents).format(usd);

export const usdOf = (microUsd: number): number => microUsd / MICRO;

/** `812`, `12.3K`, `1.4M` */
export const tokens = (count: number): string => compact.format(count);

/** All input and output tokens, including those read from a cache. */
export const tokensOf = (spent: Spent): number =>
  spent.inputTokens + spent.outputTokens + spent.cacheReadTokens + spent.cacheWriteTokens;

/** `12`, `12.50`, `$12,50`; empty: null. `undefined`: not an amount. */
export function parseUsd(text: string, most: number): number | null | undefined {
  const plain = text
    .trim()
    .replace(/^\$\s*/, '')
    .replace(',', '.');
  if (plain === '') return null;
  const usd = /^\d+(\.\d{0,6})?$|^\.\d{1,6}$/.test(plain) ? Number(plain) : NaN;
  return usd >= 0 && usd <= most ? usd : undefined;
}
