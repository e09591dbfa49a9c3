/** The page's addresses. The URL says what is on the screen: every place can be linked to and reloaded. */
import { useLocation } from 'wouter';
import { isSeatPosition, LEAD_ID, seatNumber, type SeatPosition } from '../domain/seat.ts';

export const SETTINGS_SECTIONS = ['people', 'minds', 'waking', 'prompt', 'rehearsal', 'team', 'costs', 'clients', 'storage', 'copies', 'about'] as const;
export type SettingsSection = (typeof SETTINGS_SECTIONS)[number];

export const PATHS = {
  hearth: '/',
  agent: (agentId: string) => (agentId === LEAD_ID ? '/lead' : `/agent/${encodeURIComponent(agentId)}`),
  soul: (agentId: string) => `${agentId === LEAD_ID ? '/lead' : `/agent/${encodeURIComponent(agentId)}`}/soul`,
  settings: (section: SettingsSection) => `/settings/${section}`,
  /** Somebody from a file, for this empty seat. */
  adopt: (position: SeatPosition) => `/adopt/${seatNumber(position)}`,
  threads: '/threads',
  thread: (threadId: string) => `/threads/${encodeURIComponent(threadId)}`,
  /** A thread that is to be begun, with these agents already chosen. */
  newThread: (agentIds: readonly string[] = []) => ['/threads/new', ...(agentIds.length > 0 ? [agentIds.map(encodeURIComponent).join(',')] : [])].join('/'),
  /** The threads in which this agent takes part. */
  threadsOf: (agentId: string) => `/threads/of/${encodeURIComponent(agentId)}`,
  costs: '/costs',
  preview: '/wake-preview',
  connect: '/connect',
} as const;

export type Place =
  | { readonly kind: 'hearth' }
  /** `soul`: with the agent's own page beside or over its conversation. */
  | { readonly kind: 'agent'; readonly agentId: string; readonly soul: boolean }
  | { readonly kind: 'settings'; readonly section: SettingsSection }
  /** `of`: only this agent's; `begin`: a new one is being made, with these. */
  | { readonly kind: 'threads'; readonly threadId: string | null; readonly of: string | null; readonly begin: readonly string[] | null }
  | { readonly kind: 'costs' }
  | { readonly kind: 'adopt'; readonly position: SeatPosition }
  | { readonly kind: 'preview' }
  | { readonly kind: 'connect' };

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    // A hand-written address with a stray "%": looked up as it stands, and not found.
    if (error instanceof URIError) return part;
    throw error;
  }
}

function threadsPlace(second: string, third: string): Place {
  const place = { kind: 'threads', threadId: null, of: null, begin: null } as const;
  if (second === 'new') return { ...place, begin: third === '' ? [] : third.split(',').map(decoded) };
  if (second === 'of' && third !== '') return { ...place, of: decoded(third) };
  return { ...place, threadId: second === '' ? null : decoded(second) };
}

export function placeOf(path: string): Place {
  const [, first = '', second = '', third = ''] = path.split('/');
  if (first === 'lead') return { kind: 'agent', agentId: LEAD_ID, soul: second === 'soul' };
  if (first === 'agent' && second !== '') return { kind: 'agent', agentId: decoded(second), soul: third === 'soul' };
  if (first === 'settings') return { kind: 'settings', section: SETTINGS_SECTIONS.find((section) => section === second) ?? 'people' };
  if (first === 'threads') return threadsPlace(second, third);
  if (first === 'costs') return { kind: 'costs' };
  if (first === 'adopt') {
    const position = Number(second) - 1;
    return isSeatPosition(position) ? { kind: 'adopt', position } : { kind: 'hearth' };
  }
  if (first === 'wake-preview') return { kind: 'preview' };
  if (first === 'connect') return { kind: 'connect' };
  return { kind: 'hearth' };
}

export function usePlace(): { place: Place; go: (path: string) => void } {
  const [path, go] = useLocation();
  return { place: placeOf(path), go };
}
