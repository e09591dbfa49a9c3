/** The replica with its links, which outlive it: it is begun anew where something of ours had to be taken out. */
import { createReplica, type Link, type LinkEnd, type Replica, type ReplicaDeps } from '../../protocol/replication/index.ts';

export interface Exchange {
  replica(): Replica;
  connect(link: Link): LinkEnd;
  restart(): Promise<void>;
  close(): Promise<void>;
}

export function createExchange(deps: ReplicaDeps, onLinks: () => void): Exchange {
  let replica = createReplica(deps);
  const links = new Set<{ readonly link: Link; end: LinkEnd }>();
  return {
    replica: () => replica,
    connect(link) {
      const one = { link, end: replica.connect(link) };
      links.add(one);
      return {
        take: (frame) => one.end.take(frame),
        drained: () => one.end.drained(),
        gone() {
          if (!links.delete(one)) return;
          one.end.gone();
          onLinks();
        },
      };
    },
    async restart() {
      await replica.close();
      replica = createReplica(deps);
      for (const one of links) one.end = replica.connect(one.link);
    },
    close: () => replica.close(),
  };
}
