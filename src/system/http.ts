// HTTP of Node. An ES import of 'node:http' reads every export, and that of WebSocket loads a client of its own:
// 65 more built-in modules, 4 MB and 40 ms of processor time in each thread.

export const http = process.getBuiltinModule('node:http');
