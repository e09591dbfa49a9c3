/** The news of the data worker, as they reach the stores of the page. */
import { LEAD_ID } from '../../shared/domain/seat.ts';
import { spoken, t } from '../language/t.ts';
import type { Doc } from '../../shared/protocol/documents.ts';
import { isKnown, storeOf } from '../../shared/protocol/documents/kinds.ts';
import { documentsOf } from '../../shared/protocol/intake.ts';
import type { WorkerNews } from '../../shared/protocol/worker.ts';
import type { Actions } from './actions/index.ts';
import { attempt, type Parts } from './actions/parts.ts';
import type { AgentSnapshots } from './agent-snapshots.ts';
import type { Answers } from './answers.ts';
import type { Changes } from './documents.ts';

/**
 * localStorage key with the time of the last notice about restored data. For `ONE_REPAIR_MS` after
 * it, no second notice is shown.
 */
const ANNOUNCED_AT = 'roost-returned-told';
const ONE_REPAIR_MS = 10 * 60_000;

interface NewsDeps extends Parts {
  readonly actions: Actions;
  readonly answers: Answers;
  readonly changes: Changes;
  readonly agentSnapshots: AgentSnapshots;
}

interface News {
  /** Passes one piece of news on to the stores. */
  hear(news: WorkerNews): void;
  /** Tells the person that lost data was restored. One tab does so, once. */
  announceReturned(): Promise<void>;
}

export function createNews({
  actions,
  agentSnapshots,
  answers,
  changes,
  clock,
  conversations,
  dataWorker,
  device,
  devices,
  household,
  info,
  live,
  notices,
  outbox,
  unread,
  upkeep,
}: NewsDeps): News {
  function take(docs: readonly Doc[]) {
    if (docs.length === 0) return;
    for (const doc of docs) if (isKnown(doc)) clock.follow(doc.at);
    household.take(docs);
    conversations.take(docs);
    outbox.take(docs);
    // An undo is rare. What it makes visible again is read anew.
    if (docs.some((doc) => doc.type === 'forget-undo')) void actions.reload().then(conversations.reread);
    const asked = docs.flatMap((doc) => (isKnown(doc) && doc.type === 'forget' ? [doc] : []));
    if (asked.length > 0) actions.hide(asked);
  }

  // Asked as soon as there is an agent to store. The storage page shows the answer.
  let askedToKeep = false;
  function keepForGood(docs: readonly Doc[]) {
    if (askedToKeep || !docs.some((doc) => isKnown(doc) && doc.type === 'agent-identity' && doc.agentId !== LEAD_ID))
      return;
    askedToKeep = true;
    void attempt(device.persist());
  }

  /** One tab announces restored data, once. */
  async function announceReturned() {
    const returned = await dataWorker.call('takeReturned');
    if (returned === null) return;
    // A repair may take two starts and is announced as one.
    const before = Number(device.browser.read(ANNOUNCED_AT) ?? -Infinity);
    device.browser.write(ANNOUNCED_AT, String(device.now()));
    if (Math.abs(device.now() - before) < ONE_REPAIR_MS) return;
    const { documents, lost } = returned;
    notices.offer(
      lost === 0
        ? t`The browser had lost what it stored for this page. Your team is back, with all ${documents.toLocaleString(spoken.locale)} entries.`
        : t`The browser had lost what it stored for this page. ${documents.toLocaleString(spoken.locale)} entries are back; ${lost.toLocaleString(spoken.locale)} were found neither on this device nor at the relay. If you have a copy, import it.`,
      { label: t`Done`, run: () => undefined },
    );
  }

  function readAnew() {
    void actions.reload();
    void unread.refresh();
    void conversations.refresh();
    changes.tell({ what: 'everything', agentId: null });
  }

  let welcomed = false;
  function hear(news: WorkerNews) {
    switch (news.news) {
      case 'welcome':
        // A repeated welcome means a new connection to the data worker. What was announced in
        // between is read again.
        if (welcomed) readAnew();
        welcomed = true;
        void devices.refresh();
        live.hearLink(news.link, news.snapshot);
        answers.hearLink(news.link);
        if (news.link.kind === 'live') notices.connectionIsBack();
        answers.load(news.answers);
        info.setState({ problem: news.problem });
        break;
      case 'link':
        live.hearLink(news.link, news.snapshot);
        answers.hearLink(news.link);
        if (news.snapshot) answers.keepOnly(news.snapshot);
        if (news.link.kind === 'live' && !news.link.databaseAway) {
          notices.connectionIsBack();
          void actions.refreshHealth();
          void actions.refreshHome();
          changes.tell({ what: 'everything', agentId: null });
        }
        break;
      case 'moved':
        // Nothing is missed in a browser that has just joined, where no session was shown.
        if (live.store.getState().session !== null) notices.moved();
        break;
      case 'event':
        // News of the relay is shown at once. The same documents arrive again when they are stored.
        // Records come only then, many at a time. A view that shows one asks the relay for it.
        take(documentsOf(news.stored).filter((doc) => storeOf(doc) !== 'records'));
        live.hearEvent(news.stored);
        answers.hearEvent(news.stored);
        if (news.stored.event.kind === 'changed') changes.tell(news.stored.event);
        break;
      case 'waiting':
        live.hearWaiting(news.waiting);
        break;
      case 'undelivered':
        live.hearUndelivered(news.refusals);
        break;
      case 'documents':
        take(news.docs);
        unread.hearDocuments(news.docs);
        agentSnapshots.hearDocuments();
        keepForGood(news.docs);
        break;
      case 'problem':
        info.setState({ problem: news.problem });
        break;
      case 'progress':
        upkeep.setState({ progress: news.progress });
        break;
      case 'forgotten':
        household.drop(news.forgets);
        conversations.drop(news.forgets);
        for (const { target } of news.forgets) {
          if (target.agentId !== null) unread.drop(target.agentId);
          if (target.kind === 'agent') outbox.remove((item) => item.to === 'agent' && item.agentId === target.agentId);
        }
        break;
      case 'sync':
        devices.hear(news.status);
        break;
      case 'returned':
        // Restored documents were not announced one by one.
        readAnew();
        void attempt(announceReturned());
        break;
      case 'mark':
        devices.keepMark(news.text);
        break;
      case 'restarting':
      case 'direct':
        // The connections restart a shared worker. The tab's carrier of direct connections listens
        // by itself.
        break;
      default:
        news satisfies never;
    }
  }

  return { hear, announceReturned };
}
