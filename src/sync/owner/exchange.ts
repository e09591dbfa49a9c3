/** The replica with its links. It is begun anew where something of ours had to be taken out. */
import {
  createReplica,
  type Link,
  type LinkEnd,
  type Replica,
  type ReplicaDeps,
} from '../../protocol/replication/index.ts';

export interface Exchange {
  replica(): Replica;
  connect(link: Link): LinkEnd;
  restart(): Promise<void>;
  close(): Promise<void>;
}

export function createExchange(deps: ReplicaDeps, onLinks: () => void): Exchange {
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
          onLinks();
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
