// Agent for HTTPS whose connections show what arrives before TLS processes it: Node reports neither key updates nor session
// tickets, and a receiver that sends them without end would occupy the thread.

import { Agent, type AgentOptions } from 'node:https';
import { Socket, type TcpSocketConnectOpts } from 'node:net';

const tcpSockets = new WeakMap<Socket, Socket>();

/** Returns the TCP connection below a socket of the agent; for another socket, the socket itself. */
export function tcpOf(socket: Socket): Socket {
  return tcpSockets.get(socket) ?? socket;
}

export function tlsAgent(options: AgentOptions): Agent {
  const agent = new Agent(options);
  const createConnection = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    // Connects last: TLS reads a socket that has a handle without its events.
    const tcp = new Socket();
    const socket = createConnection({ ...options, socket: tcp } as typeof options, callback);
    tcpSockets.set(socket as Socket, tcp);
    tcp.connect(options as TcpSocketConnectOpts);
    return socket;
  };
  return agent;
}
