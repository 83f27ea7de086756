// SPDX-License-Identifier: MIT
// live555_proxy.cpp - serves what it pulls by RTSP, with live555's library, as /s.
//
// live555_proxy PORT URL
#include "BasicUsageEnvironment.hh"
#include "liveMedia.hh"

#include <cstdlib>

int main(int argc, char **argv)
{
    UsageEnvironment *env = BasicUsageEnvironment::createNew(*BasicTaskScheduler::createNew());
    RTSPServer *server;

    if (argc < 3)
        return 2;
    server = RTSPServer::createNew(*env, static_cast<portNumBits>(atoi(argv[1])));
    if (!server)
        return 1;
    server->addServerMediaSession(ProxyServerMediaSession::createNew(*env, server, argv[2], "s",
                                                                     nullptr, nullptr,
                                                                     static_cast<portNumBits>(~0), 1));
    env->taskScheduler().doEventLoop();
    return 0;
}
