/**
 * Names that lead somewhere else each time that they are looked up in this process, as a hostile
 * name server has it.
 */
import dns, { type LookupAddress, type LookupOptions } from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { isIP } from 'node:net';

export interface HostileNames {
  /** This name leads to the first of these, then to the second, and so on; the last stays. */
  lead(name: string, ...to: readonly (readonly string[])[]): void;
  /** How often it was looked up. */
  asked(name: string): number;
  restore(): void;
}

export function openHostileNames(): HostileNames {
  const names = new Map<string, readonly (readonly string[])[]>();
  const counts = new Map<string, number>();
  const { lookup } = dns;
  const { lookup: lookupLater } = dns.promises;

  function next(name: string): LookupAddress[] | null {
    const to = names.get(name);
    if (!to) return null;
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    return (to[Math.min(count, to.length - 1)] ?? []).map((address) => ({ address, family: isIP(address) }));
  }
  type Done = (error: Error | null, address: string | LookupAddress[], family?: number) => void;
  const hostile = (name: string, options: LookupOptions, done: Done) => {
    const found = next(name);
    if (found === null) return lookup(name, options, done as never);
    const [first] = found;
    setImmediate(() => (options.all ? done(null, found) : done(null, first?.address ?? '', first?.family)));
    return undefined;
  };
  const hostileLater = async (name: string, options: LookupOptions) =>
    next(name) ?? (await lookupLater(name, options as { all: true }));
  Object.assign(dns, { lookup: hostile });
  Object.assign(dns.promises, { lookup: hostileLater });
  syncBuiltinESMExports();
  return {
    lead(name, ...to) {
      names.set(name, to);
      counts.delete(name);
    },
    asked: (name) => counts.get(name) ?? 0,
    restore() {
      Object.assign(dns, { lookup });
      Object.assign(dns.promises, { lookup: lookupLater });
      syncBuiltinESMExports();
    },
  };
}
