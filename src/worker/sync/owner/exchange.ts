/**
 * The replica with its links, which tells what it finds upwards. It is begun anew where something
 * of ours had to be taken out.
 */
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import {
  createReplica,
  REPLICATION,
  type Link,
  type LinkEnd,
  type Replica,
  type ReplicaDeps,
} from '../../../shared/replication/index.ts';
import type { EntryStore } from '../../../shared/protocol/sync/page.ts';
import type { Stream } from '../contract.ts';
import type { DeviceEvents } from './events.ts';
import type { OwnWriters } from './own-writers.ts';
import type { Standing } from './standing.ts';

export interface Exchange {
  replica(): Replica;
  connect(link: Link): LinkEnd;
  restart(): Promise<void>;
  close(): Promise<void>;
}

export interface ExchangeDeps {
  readonly entries: EntryStore;
  readonly writers: OwnWriters;
  readonly streamOf: (writer: string) => Stream | null;
  readonly timers: Timers;
  readonly standing: Standing;
  readonly events: DeviceEvents;
}

/** Fetched in this order. */
const PRIORITY: Readonly<Record<Stream, number>> = { people: 0, talk: 1, attachments: REPLICATION.background };

export function createExchange({ entries, writers, streamOf, timers, standing, events }: ExchangeDeps): Exchange {
  /** A writer's mark is reckoned once: it is asked for with every frame. */
  const priorities = new Map<string, number>();
  function priority(writer: string): number {
    const known = priorities.get(writer) ?? PRIORITY[streamOf(writer) ?? 'talk'];
    priorities.set(writer, known);
    return known;
  }
  const isForked = (writer: string) => writers.own(writer)?.forked ?? false;
  const deps: ReplicaDeps = {
    store: entries,
    timers,
    priority,
    // Not where it is of an earlier run, and nothing was found in it.
    own: (writer) => writers.isCurrent(writer) || isForked(writer),
    left: isForked,
    onStored() {
      events.tell('stored');
      standing.changed();
    },
    onAhead: (writer) => events.tell('ahead', writer),
    onPeers() {
      events.tell('peers');
      standing.changed();
    },
    onBacklog(now) {
      standing.set({
        backlog:
          now && now.of > 0
            ? { done: now.done, of: now.of, people: now.byPriority.get(PRIORITY.people)?.missing ?? 0 }
            : null,
        attachments: now?.background ?? 0,
      });
      events.tell('backlog');
    },
    onConflict: ({ writer, counter }, sealed) => events.tell('conflict', { writer, counter, sealed }),
    onRefused: (keys) => standing.set({ refused: standing.now().refused + keys.length }),
    onTrouble: standing.trouble('storing'),
  };
  let replica = createReplica(deps);
  const links = new Set<{ readonly link: Link }>();
  return {
    replica: () => replica,
    connect(link) {
      const end = replica.connect(link);
      const one = { link };
      links.add(one);
      return {
        take: end.take,
        drained: end.drained,
        gone() {
          if (!links.delete(one)) return;
          end.gone();
          standing.changed();
        },
      };
    },
    async restart() {
      const open = [...links];
      await replica.close();
      replica = createReplica(deps);
      // What each side has is said when a line opens: all of them open anew.
      for (const { link } of open) link.close('This device takes account of its entries anew.');
    },
    close: () => replica.close(),
  };
}
