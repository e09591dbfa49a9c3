/**
 * What commands of an agent may reach of the network: nothing, hosts that the person has named, or
 * whatever is public. Pure.
 */
import { urlOf } from './platform/old-browsers.ts';

export type Network = 'none' | 'all' | readonly string[];

/** Of one agent. */
export const MOST_HOSTS = 50;

/** Without a port: those of pages. */
const USUAL_PORTS = [80, 443];
const HOST = /^(?<name>(?:\*\.)?[a-z0-9](?:[a-z0-9-]{0,62}\.)*[a-z0-9-]{0,62})(?::(?<port>\d{1,5}))?$/;

/** `example.org`, `example.org:8443`, or `*.example.org`: all below it, and not itself. */
export const isHost = (text: string): boolean => text.length <= 260 && HOST.test(text);

/**
 * A host by its one exact name: no pattern, and written as URLs read it. What is written otherwise,
 * such as `0x7f.1`, is another host than it seems.
 */
export function isExactHost(text: string): boolean {
  if (!isHost(text) || text.startsWith('*')) return false;
  const { name = '', port } = HOST.exec(text)?.groups ?? {};
  return urlOf(`http://${name}`)?.hostname === name && !name.endsWith('.') && (port === undefined || isPort(port));
}
const isPort = (text: string) => !text.startsWith('0') && Number(text) <= 65_535;

/** The name in a host that may have a port. */
export const nameOfHost = (host: string): string => HOST.exec(host)?.groups?.['name'] ?? host;

function fits(named: string, host: string, port: number): boolean {
  const { name = '', port: own } = HOST.exec(named)?.groups ?? {};
  if (own === undefined ? !USUAL_PORTS.includes(port) : Number(own) !== port) return false;
  return name.startsWith('*.') ? host.endsWith(name.slice(1)) && host.length > name.length - 1 : host === name;
}

/** Whether all that one reaches is reached with the other. */
export const covers = (wide: Network, narrow: Network): boolean =>
  wide === 'all' ||
  narrow === 'none' ||
  (wide !== 'none' && narrow !== 'all' && narrow.every((host) => wide.includes(host)));

/** `host`: a name in small letters, or an address in digits, as URLs are read. */
export const mayReach = (network: Network, host: string, port: number): boolean =>
  network === 'all' || (network !== 'none' && network.some((named) => fits(named, host, port)));
