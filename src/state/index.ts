/** The page's state: small stores, the actions that change them, and the one place where the owner is heard. */
import { createClock } from '../domain/stamp.ts';
import { documentsOf } from '../protocol/intake.ts';
import { isKnown, type Doc } from '../protocol/documents.ts';
import type { OwnerNews } from '../protocol/worker.ts';
import { createHomeActions, type HomeActions } from './actions/home.ts';
import { createTalkActions, type TalkActions } from './actions/talk.ts';
import { createTeamActions, type TeamActions } from './actions/team.ts';
import { createAnswers, type Answers } from './answers.ts';
import { createConversations, type Conversations } from './conversations.ts';
import { createWriter } from './documents.ts';
import { createHousehold, type Household } from './household.ts';
import { createLive, type Live } from './live.ts';
import { createNotices, type Notices } from './notices.ts';
import type { Device, OwnerPort, RelayPort } from './ports.ts';
import { createPending, createRelayInfo } from './relay-info.ts';
import { createRemember, type Remember } from './remember.ts';
import { createUnread, type Unread } from './unread.ts';

export interface RoostState {
  readonly household: Household;
  readonly live: Live;
  readonly answers: Answers;
  readonly conversations: Conversations;
  readonly unread: Unread;
  readonly notices: Notices;
  readonly remember: Remember;
  readonly pending: ReturnType<typeof createPending>;
  readonly info: ReturnType<typeof createRelayInfo>;
  readonly actions: HomeActions & TeamActions & TalkActions & Pick<Conversations, 'older' | 'leap' | 'stopLeap'>;
  readonly owner: OwnerPort;
  readonly relay: RelayPort;
  readonly device: Device;
  /** Begins to listen, and reads the household. Returns the way to stop. */
  start(): () => void;
}

export interface Ports {
  readonly owner: OwnerPort;
  readonly relay: RelayPort;
  readonly device: Device;
  /** Names this page in clock stamps: letters, digits, `_` and `.`. */
  readonly node: string;
}

export function createRoostState({ owner, relay, device, node }: Ports): RoostState {
  const clock = createClock({ now: device.now, node });
  const household = createHousehold();
  const live = createLive();
  const answers = createAnswers();
  const conversations = createConversations(owner);
  const unread = createUnread(device.tab);
  const notices = createNotices(device);
  const pending = createPending();
  const info = createRelayInfo();
  const remember = createRemember(owner, household);
  const writer = createWriter({ clock, newId: device.newId, now: device.now });
  const parts = { owner, relay, device, writer, household, live, conversations, remember, notices, pending, info };
  const actions = { ...createHomeActions(parts), ...createTeamActions(parts), ...createTalkActions(parts), older: conversations.older, leap: conversations.leap, stopLeap: conversations.stopLeap };

  function take(docs: readonly Doc[]) {
    for (const doc of docs) if (isKnown(doc)) clock.follow(doc.at);
    household.take(docs);
    conversations.take(docs);
  }

  let welcomed = false;
  function hear(news: OwnerNews) {
    switch (news.news) {
      case 'welcome':
        // A further welcome is a new line to the owner: what was said while there was none is read again.
        if (welcomed) {
          void actions.reload();
          void conversations.refresh();
        }
        welcomed = true;
        live.hearLink(news.link, news.snapshot);
        answers.load(news.answers);
        info.setState({ problem: news.problem });
        break;
      case 'link':
        live.hearLink(news.link, news.snapshot);
        if (news.snapshot) answers.keepOnly(news.snapshot);
        if (news.link.kind === 'live') void actions.refreshHealth();
        break;
      case 'event':
        // What the relay says is shown as soon as it is heard; the same documents come again once they are stored.
        take(documentsOf(news.stored));
        live.hearEvent(news.stored);
        answers.hearEvent(news.stored);
        break;
      case 'documents':
        take(news.docs);
        unread.hearDocuments(news.docs);
        break;
      case 'problem':
        info.setState({ problem: news.problem });
        break;
      case 'progress':
      case 'forgotten':
        break;
      default:
        news satisfies never;
    }
  }

  return {
    household,
    live,
    answers,
    conversations,
    unread,
    notices,
    remember,
    pending,
    info,
    actions,
    owner,
    relay,
    device,
    start() {
      const stop = owner.subscribe(hear);
      void actions.reload();
      void actions.refreshHealth();
      return stop;
    },
  };
}
