// SPDX-License-Identifier: MIT
// live555_play.cpp - plays an RTSP url with live555's library, the one that VLC plays with, and
// prints a line for each frame: track, microseconds of its presentation, whether a sender report
// has told the wall clock yet, bytes, MD5, and its place in what is played (seconds).
//
// live555_play URL tcp|udp|http SECONDS [USER PASSWORD [PAUSE_AFTER PAUSE_FOR [PLACE...]]]
//
// A PLACE is START[/END[/SCALE]], as PLAY has it: the first at once; each other one instead of a pause, or PAUSE_FOR after
// one if there is one (PAUSE_FOR > 0), all PAUSE_AFTER apart.
#include "BasicUsageEnvironment.hh"
#include "liveMedia.hh"
#include "ourMD5.hh"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

static UsageEnvironment *env;
static RTSPClient *client;
static MediaSession *session;
static Authenticator *login;
static std::vector<MediaSubsession *> waiting; // for SETUP
static bool over_tcp;
static double seconds, pause_after, pause_for;

struct Place {
    double start = 0.0, end = -1.0, scale = 1.0;
};
static std::vector<Place> places; // to be played yet

static void finish(const char *why, int status)
{
    printf("end %s\n", why);
    fflush(stdout);
    exit(status);
}

static void answered(const char *what, int status, char *text)
{
    printf("%s %d%s%s\n", what, status, status ? " " : "", status && text ? text : "");
    if (status)
        finish(what, 1);
}

class Lines : public MediaSink {
public:
    Lines(UsageEnvironment &e, MediaSubsession &sub) : MediaSink(e), sub(sub) {}

private:
    static void on_frame(void *self, unsigned size, unsigned cut, timeval at, unsigned)
    {
        static_cast<Lines *>(self)->tell(size, cut, at);
    }
    void tell(unsigned size, unsigned cut, timeval at)
    {
        char digest[33];

        our_MD5Data(buffer.data(), size, digest);
        printf("%s %lld %d %u %s %.3f%s\n", sub.mediumName(),
               static_cast<long long>(at.tv_sec) * 1000000 + at.tv_usec,
               sub.rtpSource() && sub.rtpSource()->hasBeenSynchronizedUsingRTCP(), size, digest,
               sub.getNormalPlayTime(at), cut ? " cut" : "");
        continuePlaying();
    }
    Boolean continuePlaying() override
    {
        if (!fSource)
            return False;
        fSource->getNextFrame(buffer.data(), buffer.size(), on_frame, this, onSourceClosure, this);
        return True;
    }

    MediaSubsession &sub;
    std::vector<unsigned char> buffer = std::vector<unsigned char>(4 << 20);
};

static void on_bye(void *)
{
    finish("bye", 0);
}

static void on_teardown(RTSPClient *, int, char *)
{
    finish("time", 0);
}

static void stop(void *)
{
    client->sendTeardownCommand(*session, on_teardown, login);
}

static void plan_next();

static void on_play_again(RTSPClient *, int status, char *text)
{
    answered("play", status, text);
    plan_next();
}

static void play_again(void *)
{
    Place p;

    p.start = -1.0;
    if (!places.empty()) {
        p = places.front();
        places.erase(places.begin());
        printf("place %.3f\n", p.start);
    }
    client->sendPlayCommand(*session, on_play_again, p.start, p.end, static_cast<float>(p.scale), login);
}

static void on_pause(RTSPClient *, int status, char *text)
{
    answered("pause", status, text);
    env->taskScheduler().scheduleDelayedTask(static_cast<int64_t>(pause_for * 1e6), play_again,
                                             nullptr);
}

static void pause(void *)
{
    client->sendPauseCommand(*session, on_pause, login);
}

static void plan_next()
{
    static bool paused;

    if (places.empty() && (paused || pause_for <= 0))
        return;
    paused = true;
    TaskFunc *next = play_again;
    if (pause_for > 0)
        next = pause;
    env->taskScheduler().scheduleDelayedTask(static_cast<int64_t>(pause_after * 1e6), next, nullptr);
}

static void on_play(RTSPClient *, int status, char *text)
{
    answered("play", status, text);
    env->taskScheduler().scheduleDelayedTask(static_cast<int64_t>(seconds * 1e6), stop, nullptr);
    plan_next();
}

static void setup_next();

static void play_first()
{
    Place p;

    if (!places.empty()) {
        p = places.front();
        places.erase(places.begin());
    }
    client->sendPlayCommand(*session, on_play, p.start, p.end, static_cast<float>(p.scale), login);
}

static void on_setup(RTSPClient *, int status, char *text)
{
    MediaSubsession *sub = waiting.front();

    answered("setup", status, text);
    waiting.erase(waiting.begin());
    sub->sink = new Lines(*env, *sub);
    sub->sink->startPlaying(*sub->readSource(), nullptr, nullptr);
    if (sub->rtcpInstance())
        sub->rtcpInstance()->setByeHandler(on_bye, nullptr);
    setup_next();
}

static void setup_next()
{
    if (waiting.empty())
        play_first();
    else
        client->sendSetupCommand(*waiting.front(), on_setup, False, over_tcp, False, login);
}

static void on_describe(RTSPClient *, int status, char *text)
{
    answered("describe", status, text);
    session = MediaSession::createNew(*env, text);
    if (!session)
        finish("no session in the description", 1);
    MediaSubsessionIterator each(*session);
    while (MediaSubsession *sub = each.next()) {
        if (!sub->initiate())
            finish("a track is not understood", 1);
        printf("track %s %s\n", sub->mediumName(), sub->codecName());
        waiting.push_back(sub);
    }
    setup_next();
}

static void on_options(RTSPClient *, int status, char *text)
{
    answered("options", status, text);
    client->sendDescribeCommand(on_describe, login);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    setvbuf(stdout, nullptr, _IOLBF, 0);
    over_tcp = strcmp(argv[2], "tcp") == 0;
    seconds = atof(argv[3]);
    login = argc > 5 && *argv[4] ? new Authenticator(argv[4], argv[5]) : nullptr;
    pause_after = argc > 7 ? atof(argv[6]) : 0;
    pause_for = argc > 7 ? atof(argv[7]) : 0;
    for (int i = 8; i < argc; i++) {
        Place p;

        sscanf(argv[i], "%lf/%lf/%lf", &p.start, &p.end, &p.scale);
        places.push_back(p);
    }
    env = BasicUsageEnvironment::createNew(*BasicTaskScheduler::createNew());

    portNumBits port = 0;
    if (strcmp(argv[2], "http") == 0) {
        std::string host = strstr(argv[1], "//") + 2;
        port = static_cast<portNumBits>(atoi(host.substr(host.find(':') + 1).c_str()));
    }
    client = RTSPClient::createNew(*env, argv[1], 1, "live555_play", port);
    client->sendOptionsCommand(on_options, login);
    env->taskScheduler().doEventLoop();
    return 0;
}
