/**
 * The rights of the relay's owner: access to the machine and its network beyond what a household
 * needs. This table alone defines what each right permits, which households have it, and how others
 * are refused. Other parts ask it by home.
 */
import { sentence } from '../../src/shared/domain/names.ts';
import type { MayConnect } from '../../src/shared/protocol/models.ts';
import { SCRIPTS_OFF } from '../../src/shared/protocol/schedules.ts';
import type { AddressRule, ModelShare } from '../platform/guarded-fetch.ts';

/**
 * `owners`: the relay's first household, which is its owner's, and those in `--trusted-households`.
 */
type Holder = 'nobody' | 'owners' | 'everybody';

/** The settings of the relay that decide which households have a right. */
export interface RightsConfig {
  readonly scripts: boolean;
  readonly environmentModel: ModelShare;
  readonly modelAddresses: AddressRule;
  readonly webAddresses: AddressRule;
  readonly push: { readonly addresses: AddressRule };
  /** Ids of homes. */
  readonly trustedHouseholds: readonly string[];
}

interface Right {
  /** What the right permits. */
  readonly opens: string;
  readonly holder: (config: RightsConfig) => Holder;
  /** The refusal where no household has the right. */
  readonly off: string;
  /**
   * The refusal where the owner's households have it. `home`: the id by which the owner can name
   * this one.
   */
  readonly refusal: (home: string) => string;
}

const byScripts = ({ scripts }: RightsConfig): Holder => (scripts ? 'owners' : 'nobody');
const byRule = (rule: AddressRule): Holder => (rule === 'own' ? 'owners' : rule === 'any' ? 'everybody' : 'nobody');

const FREE_OFF = sentence`This relay runs no programs outside the sandbox. To allow them, start the relay with --scripts.`;
/** The end of each refusal: who can change it, and how. */
const named = (home: string) =>
  sentence`The relay’s owner can allow it for your household: start the relay with --trusted-households ${home}.`;

export const OWNER_RIGHTS = {
  'free-programs': {
    opens: 'ACP agents, and MCP servers outside the sandbox, run as the user who started the relay.',
    holder: byScripts,
    off: FREE_OFF,
    refusal: (home) =>
      sentence`Only the household of the relay’s owner may run programs outside the sandbox. ${named(home)}`,
  },
  'machine-folders': {
    opens:
      'An MCP server in the sandbox is shown the folders of the machine that the person names, and no others. A project is a repository that lies there.',
    holder: () => 'owners',
    off: '',
    refusal: (home) =>
      sentence`Only the household of the relay’s owner may use folders of this machine. Remove the folders. ${named(home)}`,
  },
  'bare-commands': {
    opens: 'Where there is no sandbox, commands of agents and scheduled scripts run as the user who started the relay.',
    holder: byScripts,
    off: SCRIPTS_OFF,
    refusal: (home) =>
      sentence`This machine has no sandbox. Without one, only the household of the relay’s owner may run scripts. ${named(home)}`,
  },
  'boxed-programs': {
    opens: 'MCP servers run in the sandbox, which shows them nothing of the machine but the system’s programs.',
    holder: ({ scripts }) => (scripts ? 'everybody' : 'owners'),
    off: '',
    refusal: (home) =>
      sentence`Without --scripts, only the household of the relay’s owner may run programs in the sandbox. ${named(home)}`,
  },
  'boxed-scripts': {
    opens:
      'Scheduled scripts run in the sandbox, which shows them their agent’s folder. Each runs only with the person’s yes.',
    holder: () => 'everybody',
    off: '',
    refusal: () => '',
  },
  'own-hosts': {
    opens:
      'A scheduled script in the sandbox reaches hosts of the relay’s own machine and networks that the person names.',
    holder: () => 'owners',
    off: '',
    refusal: (home) =>
      sentence`Only the household of the relay’s owner may let scripts reach this machine and its networks. Remove those hosts. ${named(home)}`,
  },
  'environment-model': {
    opens: 'The model that the relay’s environment names answers, at the cost of whoever pays for its key.',
    holder: ({ environmentModel }) => byRule(environmentModel),
    off: '',
    refusal: () => 'Connect a model of your own.',
  },
  'inner-servers': {
    opens: 'Models and MCP servers are called at addresses of the relay’s own machine and networks.',
    holder: ({ modelAddresses }) => byRule(modelAddresses),
    off: sentence`This address belongs to the relay’s own network, or leads there, so the relay does not connect to it. The relay’s owner can allow it: start the relay with --model-addresses own.`,
    refusal: (home) =>
      sentence`This address belongs to the relay’s own network, or leads there. Only the household of the relay’s owner may use it. ${named(home)}`,
  },
  'inner-pages': {
    opens: 'Agents read pages of the relay’s own machine and networks, and what runs in the sandbox reaches them.',
    holder: ({ webAddresses }) => byRule(webAddresses),
    off: 'Roost reads only pages of the public web, and this address is not public.',
    refusal: () => 'Roost reads only pages of the public web, and this address is not public.',
  },
  'inner-pushes': {
    opens: 'Notifications are pushed to addresses of the relay’s own machine and networks, and over plain http.',
    holder: ({ push }) => byRule(push.addresses),
    off: sentence`The relay sends notifications only to public addresses that begin with https://. The relay’s owner can allow others: start the relay with --push-addresses own.`,
    refusal: (home) =>
      sentence`Only the household of the relay’s owner may get notifications at this address. Use a public one that begins with https://. ${named(home)}`,
  },
  'direct-demo': {
    opens: 'How the demo misbehaves is set, for every household of the relay that has no model.',
    holder: () => 'owners',
    off: '',
    refusal: (home) =>
      sentence`This setting applies to the demo of every household at this relay. Only the household of the relay’s owner may change it. ${named(home)}`,
  },
} as const satisfies Readonly<Record<string, Right>>;
export type OwnerRight = keyof typeof OWNER_RIGHTS;

/** The rights of one household. */
export interface HomeRights {
  has(right: OwnerRight): boolean;
  /** Why the right is refused, as a sentence for people. */
  refusal(right: OwnerRight): string;
  /**
   * Addresses that the relay contacts for it: servers that a page names, pages that agents name,
   * push services.
   */
  readonly servers: MayConnect;
  readonly pages: MayConnect;
  readonly pushes: MayConnect;
}

export interface OwnerRights {
  /** The household in this home. */
  of(home: string): HomeRights;
}

/** `first`: the id of the relay's first home. */
export function createOwnerRights(config: RightsConfig, first: string): OwnerRights {
  const owners: ReadonlySet<string> = new Set([first, ...config.trustedHouseholds]);
  return {
    of(home) {
      const has = (right: OwnerRight) => {
        const holder = OWNER_RIGHTS[right].holder(config);
        return holder === 'everybody' || (holder === 'owners' && owners.has(home));
      };
      const reach = (right: OwnerRight, rule: AddressRule): MayConnect =>
        has(right) ? 'any' : rule === 'none' ? 'none' : 'public';
      return {
        has,
        refusal(right) {
          const { holder, off, refusal }: Right = OWNER_RIGHTS[right];
          return holder(config) === 'nobody' ? off : refusal(home);
        },
        servers: reach('inner-servers', config.modelAddresses),
        pages: reach('inner-pages', config.webAddresses),
        pushes: reach('inner-pushes', config.push.addresses),
      };
    },
  };
}
